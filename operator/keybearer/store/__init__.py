"""What the service keeps: tables, repositories, migrations, and the sealing of values."""
