package org.apache.iceberg.rest;

import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/**
 * Iceberg's own REST catalog on one loopback port, over the JDBC catalog whose properties are given as -Dcatalog.NAME.
 *
 * <p>Arguments: port, address of Limnograph. Scan and commit reports that clients send to the catalog are sent on to
 * Limnograph, as a proxy in front of a catalog does it. A refused commit is one line of the log.
 */
public final class LakeRest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties = new HashMap<>();
    System.getProperties().forEach((key, value) -> {
      String name = key.toString();
      if (name.startsWith("catalog.")) {
        properties.put(name.substring("catalog.".length()), value.toString());
      }
    });
    String observer = arguments[1];
    RESTCatalogAdapter adapter =
        new RESTCatalogAdapter(CatalogUtil.buildIcebergCatalog("lake", properties, new Configuration())) {
          @Override
          public <T extends RESTResponse> T handleRequest(
              Route route, Map<String, String> variables, HTTPRequest request, Class<T> type,
              Consumer<Map<String, String>> headers) {
            if (route == Route.REPORT_METRICS && !observer.isEmpty()) {
              sendOn(observer, variables, request.encodedBody());
            }
            try {
              return super.handleRequest(route, variables, request, type, headers);
            } catch (RuntimeException refused) {
              if (route == Route.UPDATE_TABLE || route == Route.COMMIT_TRANSACTION) {
                System.out.println("refused " + variables + ": " + refused.getMessage());
              }
              throw refused;
            }
          }
        };
    ServletContextHandler context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");
    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    server.setHandler(context);
    server.start();
    server.join();
  }

  private static void sendOn(String observer, Map<String, String> variables, String body) {
    String path = "/v1/namespaces/" + variables.get("namespace") + "/tables/" + variables.get("table") + "/metrics";
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(observer + path));
    request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
    HTTP.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding());
  }
}
