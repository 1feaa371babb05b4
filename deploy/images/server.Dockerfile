# The server alone: no Java, no Node at run time. Build from the repository's root.
FROM node:24.19.0-bookworm-slim AS dashboard
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --ignore-scripts
COPY frontend ./
RUN npx svelte-kit sync && npm run build

FROM python:3.11.14-slim-bookworm
WORKDIR /src
COPY requirements.lock ./
RUN pip install --no-cache-dir "$(grep -o '^uv==[^ ]*' requirements.lock)"
COPY pyproject.toml README.md LICENSE ./
COPY backend ./backend
COPY docs/runbooks ./docs/runbooks
COPY deploy/prometheus/rules ./deploy/prometheus/rules
COPY --from=dashboard /src/backend/limnograph/_dashboard ./backend/limnograph/_dashboard
RUN uv pip install --system --no-cache -c requirements.lock '.[postgres,trino]' \
 && useradd --create-home --uid 10001 limnograph \
 && install -d -o limnograph /var/lib/limnograph
USER limnograph
EXPOSE 8787
CMD ["limnograph", "serve"]
