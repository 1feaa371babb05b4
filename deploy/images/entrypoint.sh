#!/bin/bash
# One image for driver and executors. Spark on Kubernetes starts its pods with `driver` or `executor` as first argument
# and everything else in SPARK_* variables; any other argument is run as a command.
set -euo pipefail
: "${SPARK_HOME:=$(python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')}"
: "${JAVA_HOME:=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}"
export SPARK_HOME JAVA_HOME

case "${1:-}" in
driver)
  shift
  exec "$SPARK_HOME/bin/spark-submit" --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" --deploy-mode client "$@"
  ;;
executor)
  options=()
  while IFS= read -r line; do options+=("${line#*=}"); done < <(env | grep '^SPARK_JAVA_OPT_' | sort -t_ -k4 -n || true)
  exec "$JAVA_HOME/bin/java" "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
    -cp "${SPARK_CONF_DIR:-$SPARK_HOME/conf}:${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
  ;;
*)
  exec "$@"
  ;;
esac
