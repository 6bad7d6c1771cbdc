# syntax=docker/dockerfile:1
# Keybearer: operator, embedded service and command line in one image.
#
#   docker build -t registry.example.com/keybearer:0.1.0 --build-arg VERSION=0.1.0 .
#
# For a build that can be repeated, give the base by digest:
#   --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:...

ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements/build.txt requirements/runtime.txt requirements/
# The libraries first: this layer changes only with the lock.
RUN python -m venv /opt/keybearer \
    && /opt/keybearer/bin/pip install --require-hashes --only-binary :all: -r requirements/runtime.txt \
    && python -m venv /opt/build \
    && /opt/build/bin/pip install --require-hashes --only-binary :all: -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
# Nothing is downloaded here: the wheel is built with the pinned setuptools, and installed without dependencies.
# pip itself goes last: nothing installs anything at run time.
RUN /opt/build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /wheels . \
    && /opt/keybearer/bin/pip install --no-index --no-deps /wheels/keybearer-*.whl \
    && /opt/keybearer/bin/pip uninstall --yes setuptools pip

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="keybearer" \
      org.opencontainers.image.description="Brings secrets and certificates into Kubernetes." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/keybearer /opt/keybearer
# HOME is the one directory that the chart mounts writable: the root file system is read-only at run time.
ENV PATH=/opt/keybearer/bin:${PATH} \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that Kubernetes can see that it isn't root (runAsNonRoot).
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["keybearer"]
CMD ["--help"]
