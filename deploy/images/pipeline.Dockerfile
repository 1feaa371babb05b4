# The pipeline: Python, a JDK 17 and the Spark jars with their checksums. Build from the repository's root.
FROM python:3.11.14-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/limnograph
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY backend ./backend
RUN pip install --no-cache-dir "$(grep -o '^uv==[^ ]*' requirements.lock)" \
 && uv pip install --system --no-cache -c requirements.lock '.[spark,postgres]'
COPY deploy/setup/jars.py deploy/setup/jars.lock deploy/setup/
RUN python deploy/setup/jars.py && rm -rf .tools/ivy \
 && useradd --create-home --uid 10001 limnograph \
 && install -d -o limnograph /var/lib/limnograph /warehouse
ENV LIMNOGRAPH_JARS=/opt/limnograph/.tools/jars
USER limnograph
CMD ["limnograph", "pipeline"]
