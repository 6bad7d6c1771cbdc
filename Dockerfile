# Keybearer: operator, embedded service and command line in one image, without a shell or a package manager in it.
#
#   make image IMAGE=registry.example.com/keybearer:0.2.0
#
# The base is only built on, and Python and its libraries are taken from it. For a build that can be repeated, name it
# by digest:
#
#   make image IMAGE_ARGS='--build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:...'

ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
WORKDIR /src
COPY requirements/build.txt requirements/runtime.txt requirements/
# The libraries first: this layer changes only with the locks. Where packages come by way of a mirror or past an authority
# of your own, give pip's settings and the certificates as secrets of the build: neither gets into a layer.
RUN --mount=type=secret,id=pip --mount=type=secret,id=ca \
    export PIP_CONFIG_FILE=/run/secrets/pip && { ! test -e /run/secrets/ca || export PIP_CERT=/run/secrets/ca; } \
    && python3 -m venv /opt/build \
    && python3 -m venv --without-pip /opt/keybearer \
    && /opt/build/bin/pip install --require-hashes --only-binary :all: -r requirements/build.txt \
    && /opt/build/bin/pip --python /opt/keybearer/bin/python install --require-hashes --only-binary :all: \
        -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
COPY tools/__init__.py tools/__init__.py
COPY tools/image tools/image
# What all files are dated, in seconds of the Unix epoch: when they were copied says nothing. `make image` gives the
# time of the commit.
ARG SOURCE_DATE_EPOCH=315532800
# Nothing is downloaded here: the wheel is built with the pinned setuptools, and installed without dependencies.
RUN /opt/build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /wheels . \
    && /opt/build/bin/pip --python /opt/keybearer/bin/python install --no-index --no-deps --find-links /wheels keybearer \
    && /opt/build/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
        --output-file /environment.cdx.json /opt/keybearer/bin/python \
    && mkdir /image \
    && /opt/build/bin/python -m tools.image --environment /opt/keybearer --bill /environment.cdx.json \
        --root /image --date "${SOURCE_DATE_EPOCH}"

FROM scratch
ARG VERSION=0.2.0
LABEL org.opencontainers.image.title="keybearer" \
      org.opencontainers.image.description="Brings secrets and certificates into Kubernetes." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /image /
# HOME is the one directory that the chart mounts writable: the root file system is read-only at run time.
ENV PATH=/opt/keybearer/bin \
    HOME=/tmp \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that Kubernetes can see that it isn't root (runAsNonRoot).
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["keybearer"]
CMD ["--help"]
