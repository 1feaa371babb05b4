# Object store and REST catalog of profile `stack`: the jars that `make test-stack` runs, with the same checksums. For
# evaluation; use your own services in production. Build from the repository's root.
FROM python:3.11.14-slim-bookworm AS jars
RUN apt-get update && apt-get install -y --no-install-recommends maven openjdk-17-jre-headless
WORKDIR /opt/limnograph
COPY requirements.lock ./
RUN pip install --no-cache-dir "$(grep -o '^uv==[^ ]*' requirements.lock)"
COPY deploy/setup deploy/setup
COPY pyproject.toml README.md LICENSE ./
COPY backend ./backend
COPY docs/runbooks ./docs/runbooks
COPY deploy/prometheus/rules ./deploy/prometheus/rules
RUN uv pip install --system --no-cache -c requirements.lock '.[spark]' \
 && python deploy/setup/stack.py && limnograph setup --into .tools/jars --s3

FROM python:3.11.14-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 limnograph \
 && install -d -o limnograph /data
WORKDIR /opt/limnograph
COPY --from=jars /opt/limnograph/.tools/stack .tools/stack
COPY --from=jars /opt/limnograph/.tools/jars-s3 .tools/jars-s3
COPY deploy/images/neighbours.sh deploy/compose/s3proxy.conf deploy/compose/logback.xml ./
USER limnograph
ENTRYPOINT ["tini", "--", "/opt/limnograph/neighbours.sh"]
