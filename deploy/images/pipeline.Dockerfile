# The pipeline, as driver and as executor: Python, a JDK 17 and the Spark jars with their checksums. Build from the
# repository's root. For meta tables on S3: --build-arg JARS=--s3.
FROM python:3.11.14-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps tini \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/limnograph
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY backend ./backend
COPY docs/runbooks ./docs/runbooks
COPY deploy/prometheus/rules ./deploy/prometheus/rules
RUN pip install --no-cache-dir "$(grep -o '^uv==[^ ]*' requirements.lock)" \
 && uv pip install --system --no-cache -c requirements.lock '.[spark,postgres]'
ARG JARS=
COPY deploy/images/entrypoint.sh deploy/images/pipeline.py ./
RUN limnograph setup --into .tools/jars $JARS \
 && if [ -d .tools/jars-s3 ]; then rm -r .tools/jars && mv .tools/jars-s3 .tools/jars; fi \
 && useradd --create-home --uid 10001 limnograph \
 && install -d -o limnograph /var/lib/limnograph /warehouse
ENV LIMNOGRAPH_JARS=/opt/limnograph/.tools/jars
USER limnograph
ENTRYPOINT ["tini", "--", "/opt/limnograph/entrypoint.sh"]
CMD ["limnograph", "pipeline"]
