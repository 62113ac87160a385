package dev.pipewright.server;

import dev.pipewright.app.cli.serve.ServingService;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.page.PageCatalog;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.StudyQueue;
import dev.pipewright.server.web.Guard;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Sessions;
import dev.pipewright.server.web.Templates;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The site of {@code pipewright serve}: a web server, the pages, the queue and the store. */
public final class LocalSite implements ServingService {
  private static final int MOST_CONNECTIONS = 256;
  private static final long MOST_BYTES = 32L << 20; // of a request
  private static final Duration PATIENCE = Duration.ofSeconds(30); // for the next bytes

  /** Kept, since the logging forgets the levels of loggers that nothing holds. */
  private static final Logger WEB = Logger.getLogger("io.helidon");

  @Override
  public Site start(Request request) {
    WEB.setLevel(Level.WARNING);
    InetAddress address = address(request);
    checkFree(address, request.port());
    StudyStore store = StudyStore.open(request.database(), request.data(), System.getenv());
    int searches = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    StudyQueue queue = new StudyQueue(store, searches);
    try {
      Templates templates = new Templates();
      Sessions sessions = new Sessions(request.token());
      List<Page> pages = PageCatalog.all(templates, sessions, queue, store);
      templates.navigation(pages.stream().flatMap(page -> page.entry().stream()).toList());
      Guard guard = new Guard(address.isLoopbackAddress(), sessions, templates);
      HttpRouting.Builder routing =
          HttpRouting.builder().addFilter(guard).error(Exception.class, guard::fail);
      pages.forEach(page -> page.route(routing));
      WebServer server =
          WebServer.builder()
              .address(address)
              .port(request.port())
              .shutdownHook(false)
              .maxTcpConnections(MOST_CONNECTIONS)
              .maxPayloadSize(MOST_BYTES)
              .connectionOptions(options -> options.readTimeout(PATIENCE))
              .addRouting(routing)
              .build()
              .start();
      return new Running(server, queue, store, address);
    } catch (RuntimeException e) {
      queue.close();
      store.close();
      throw e;
    }
  }

  private static InetAddress address(Request request) {
    try {
      return InetAddress.getByName(request.host());
    } catch (UnknownHostException e) {
      throw new BadInputException(
          "--host: %s is no address of this machine; give one like 0.0.0.0"
              .formatted(request.host()));
    }
  }

  private static void checkFree(InetAddress address, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true); // as the server does: closed connections are in no one's way
      socket.bind(new InetSocketAddress(address, port));
    } catch (IOException e) {
      throw new BadInputException(
          "--port: %d of %s is in use or cannot be had; give another, or 0 for any free one"
              .formatted(port, address.getHostAddress()));
    }
  }

  /** A site until it is closed. */
  private record Running(WebServer server, StudyQueue queue, StudyStore store, InetAddress at)
      implements Site {
    @Override
    public URI address() {
      String host =
          Optional.of(at)
              .filter(each -> !each.isAnyLocalAddress())
              .map(InetAddress::getHostAddress)
              .orElse("localhost");
      String name = host.contains(":") ? "[" + host + "]" : host;
      return URI.create("http://" + name + ":" + server.port() + "/");
    }

    @Override
    public void close() {
      server.stop();
      queue.close();
      store.close();
    }
  }
}
