package dev.pipewright.app.cli.serve;

import dev.pipewright.app.cli.launch.RunToken;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.file.BadInputException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "serve",
    description = "Serves pages for the browser: plans with their reasons, kept under links.",
    footer = {
      "",
      "The pages are for this machine alone, unless --host names an address; then users need the",
      "token, which is read from the variable PIPEWRIGHT_TOKEN or a file.",
      "",
      "Examples:",
      "  pipewright serve",
      "  PIPEWRIGHT_TOKEN=… pipewright serve --host 0.0.0.0 --port 8400",
      "  pipewright serve --database jdbc:postgresql://db.example.com/pipewright"
    })
public final class ServeCommand implements Callable<Integer> {
  private static final int MOST_PORT = 65_535;

  @Spec private CommandSpec spec;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description =
          "Address to listen on. Default: the loopback address, which only this machine reaches;"
              + " any other needs a token.")
  private @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8400",
      description = "Port to listen on; 0 for any free one. Default: ${DEFAULT-VALUE}.")
  private int port;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "A file that only its owner can read, with the token that users have to give. Default: the"
              + " variable PIPEWRIGHT_TOKEN.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Folder of the studies. Default: ~/.local/share/pipewright.")
  private @Nullable Path data;

  @Option(
      names = "--database",
      paramLabel = "URL",
      description =
          "Keep studies in PostgreSQL instead of a file: jdbc:postgresql://HOST/NAME, with user and"
              + " password in PIPEWRIGHT_DATABASE_USER and PIPEWRIGHT_DATABASE_PASSWORD.")
  private @Nullable String database;

  ServeCommand() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public Integer call() throws InterruptedException {
    ServingService.Request request = request(System.getenv());
    ServingService service =
        ServiceLoader.load(ServingService.class)
            .findFirst()
            .orElseThrow(() ->
                new BadInputException(
                    "serve: the web server is not on the class path; start `./pipewright serve` in a checkout, which builds it, or use a package"));
    ServingService.Site site = service.start(request);
    PrintWriter out = spec.commandLine().getOut();
    out.println("Pipewright is at " + site.address());
    out.println(
        request.token().isPresent()
            ? "Users give the token once; Ctrl-C ends it."
            : "Only this machine reaches it; Ctrl-C ends it.");
    out.flush();
    SearchDeadline.endsByInterrupt();
    Runtime.getRuntime().addShutdownHook(new Thread(site::close, "end pages"));
    new CountDownLatch(1).await(); // until an interrupt
    return 0;
  }

  private ServingService.Request request(Map<String, String> environment) {
    if (port < 0 || port > MOST_PORT) {
      throw new BadInputException(
          "--port: %d is no port; give 1 to %d, or 0 for any free one".formatted(port, MOST_PORT));
    }
    String address = host == null ? "127.0.0.1" : host;
    boolean secret =
        tokenFile != null || !environment.getOrDefault(RunToken.VARIABLE, "").isBlank();
    if (!secret && !isLoopback(address)) {
      throw new BadInputException(
          "--host: %s can be reached from other machines, and no token keeps strangers out; set %s, as `openssl rand -hex 16` prints one, or give --token-file FILE"
              .formatted(address, RunToken.VARIABLE));
    }
    return new ServingService.Request(
        address,
        port,
        secret
            ? Optional.of(RunToken.of(environment, tokenFile, "a secret of your users"))
            : Optional.empty(),
        Optional.ofNullable(database),
        data == null ? folder(environment) : data);
  }

  private static boolean isLoopback(String address) {
    try {
      return InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new BadInputException(
          "--host: %s is no address of this machine; give one like 0.0.0.0".formatted(address));
    }
  }

  /** The user's folder for data of programs (XDG Base Directory Specification). */
  static Path folder(Map<String, String> environment) {
    String set = environment.getOrDefault("XDG_DATA_HOME", "");
    Path all =
        set.isEmpty() ? Path.of(System.getProperty("user.home"), ".local", "share") : Path.of(set);
    return all.resolve("pipewright");
  }
}
