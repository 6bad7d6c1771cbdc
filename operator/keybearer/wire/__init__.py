"""The wire: request and response models, enumerations and limits of the service interface."""
