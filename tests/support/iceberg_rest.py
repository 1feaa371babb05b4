"""Iceberg's own REST catalog (the server of its test fixtures) on loopback, over an SQLite catalog of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, java_import, launch_gateway

from limnograph.adapters.spark.java import java_home
from postgres import free_port

PY4J = Path(pyspark.__file__).parent / "jars"


@contextmanager
def iceberg_rest(
    jars: Sequence[Path], folder: Path, warehouse: str, properties: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Its address. `jars`: folders; `properties`: more of the catalog behind it, by Iceberg-Java's names.

    The fixture's own program listens on all interfaces; put together through Py4J it has the address that we give.
    """
    folder.mkdir(parents=True, exist_ok=True)
    places = [*(f"{place}/*" for place in jars), *map(str, PY4J.glob("py4j*.jar"))]
    with (folder / "rest.log").open("w") as log:
        port, token, process = launch_gateway(
            classpath=":".join(places),
            javaopts=["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
            die_on_exit=True,
            java_path=f"{java_home()}/bin/java",
            redirect_stdout=log,
            redirect_stderr=log,
            enable_auth=True,
            return_proc=True,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True))
        try:
            given = {"warehouse": warehouse, "clients": "1", "jdbc.schema-version": "V1", **(properties or {})}
            yield _serve(gateway, {"uri": f"jdbc:sqlite:file:{folder}/rest.db", **given})
        finally:
            gateway.close()
            process.kill()
            process.wait(20)


def _serve(gateway: JavaGateway, properties: dict[str, str]) -> str:
    jvm, port = gateway.jvm, free_port()
    for name in (
        "org.apache.iceberg.CatalogUtil",
        "org.apache.hadoop.conf.Configuration",
        "org.apache.iceberg.rest.RESTCatalogAdapter",
        "org.apache.iceberg.rest.RESTCatalogServlet",
        "org.eclipse.jetty.ee10.servlet.ServletContextHandler",
        "org.eclipse.jetty.ee10.servlet.ServletHolder",
        "org.eclipse.jetty.server.Server",
        "java.net.InetSocketAddress",
    ):
        java_import(jvm, name)
    given = {"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", **properties}
    catalog = jvm.CatalogUtil.buildIcebergCatalog("rest", given, jvm.Configuration())
    context = jvm.ServletContextHandler()
    context.addServlet(jvm.ServletHolder(jvm.RESTCatalogServlet(jvm.RESTCatalogAdapter(catalog))), "/*")
    server = jvm.Server(jvm.InetSocketAddress("127.0.0.1", port))
    server.setHandler(context)
    server.start()
    return f"http://127.0.0.1:{port}"
