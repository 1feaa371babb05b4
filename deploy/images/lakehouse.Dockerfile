# The reference lakehouse: every program of examples/lakehouse, as `make lakehouse` starts them. For evaluation. Build from
# the repository's root.
FROM node:24.19.0-bookworm-slim AS dashboard
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --ignore-scripts
COPY frontend ./
RUN npx svelte-kit sync && npm run build

FROM python:3.11.14-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
    maven openjdk-17-jdk-headless postgresql procps prometheus prometheus-alertmanager tini \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/limnograph
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN pip install --no-cache-dir "$(grep -o '^uv==[^ ]*' requirements.lock)"
COPY backend ./backend
COPY docs/runbooks ./docs/runbooks
COPY deploy ./deploy
COPY examples ./examples
COPY --from=dashboard /src/backend/limnograph/_dashboard ./backend/limnograph/_dashboard
RUN uv pip install --system --no-cache -c requirements.lock '.[spark,postgres,trino,lakehouse]' \
 && python deploy/setup/stack.py && limnograph setup --into .tools/jars --s3 && sh deploy/setup/trino.sh \
 && useradd --create-home --uid 10001 limnograph \
 && install -d -o limnograph /data
ENV PYTHONPATH=/opt/limnograph/examples:/opt/limnograph/backend PYTHONUNBUFFERED=1
USER limnograph
ENTRYPOINT ["tini", "--", "python", "-m", "lakehouse.run"]
CMD ["start", "--dir", "/data"]
