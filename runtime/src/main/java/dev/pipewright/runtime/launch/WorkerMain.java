package dev.pipewright.runtime.launch;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.tensor.Gpu;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.Entrance;
import dev.pipewright.runtime.transport.GpuTransport;
import dev.pipewright.runtime.transport.LostPeerException;
import dev.pipewright.runtime.transport.StagedTransport;
import dev.pipewright.runtime.transport.TcpTransport;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.runtime.transport.WrongMessageException;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Secret;
import dev.pipewright.runtime.wire.Tls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The process of one worker. It ends with its control connection, whatever it is doing. */
public final class WorkerMain {
  private static final int COORDINATOR_GONE = 3;
  private static final int CERTIFICATES = 7; // the first of three arguments, if there are any

  private final Control control;
  private final Optional<Tls> tls;
  private final Computing computing;
  private final Path recorderFile;
  private final FlightRecorder recorder;
  private final CompletableFuture<Message> job = new CompletableFuture<>();
  private final CompletableFuture<Message> peers = new CompletableFuture<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final LastStep lastStep = new LastStep();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private volatile IntSupplier waitingFor = () -> Pulse.NONE;

  private WorkerMain(Control control, Optional<Tls> tls, Path recorderFile, Computing computing) {
    this.control = control;
    this.tls = tls;
    this.computing = computing;
    this.recorderFile = recorderFile;
    this.recorder = FlightRecorder.create(recorderFile);
  }

  /** Started by {@link Coordinator} and {@link JoinedHost} only. */
  public static void main(String[] arguments) throws IOException {
    int worker = Integer.parseInt(arguments[0]);
    Token token = new Token(Optional.ofNullable(System.getenv(Token.VARIABLE)).orElse(""));
    Optional<Tls> tls = tls(arguments);
    Control control =
        Control.connect(arguments[1], Integer.parseInt(arguments[2]), token.with(tls));
    control.send(Message.of("worker").with("worker", worker));
    Device device = Device.valueOf(arguments[5]);
    int threads = Integer.parseInt(arguments[3]);
    Computing computing = new Computing(device, threads, Boolean.parseBoolean(arguments[6]));
    new WorkerMain(control, tls, Path.of(arguments[4]), computing).run(worker);
  }

  private static Optional<Tls> tls(String[] arguments) {
    if (arguments.length == CERTIFICATES) {
      return Optional.empty();
    }
    CertificateFiles files =
        new CertificateFiles(
            arguments[CERTIFICATES], arguments[CERTIFICATES + 1], arguments[CERTIFICATES + 2]);
    return Optional.of(Tls.of(files));
  }

  private void run(int worker) {
    control.listen(
        "control", this::communication, end -> Runtime.getRuntime().halt(COORDINATOR_GONE));
    int status = 0;
    try {
      Torch.startAlone(computing.threads()); // while the others come
      if (computing.frugal()) {
        Torch.fillNewMemory();
      }
      work(worker, fromCoordinator(job::join));
    } catch (Throwable e) { // also errors: whatever it was, the coordinator is to know
      e.printStackTrace();
      control.send(failure(e));
      status = COORDINATOR_GONE;
    }
    waitingFor = () -> Pulse.COORDINATOR;
    awaitStop();
    end(status);
  }

  private void awaitStop() {
    try {
      stop.await();
    } catch (InterruptedException e) {
      // then it ends without a command
    }
  }

  private void communication(Message message) {
    switch (message.kind()) {
      case "job" -> job.complete(message);
      case "ping" ->
          control.send(
              pulse()
                  .put(
                      Message.of("pong")
                          .with("sent", message.number("sent"))
                          .with("now", System.nanoTime())));
      case "peers" -> peers.complete(message);
      case "answer" -> answers.add(message.text("text"));
      case "hold" -> control.send(Message.of("begun").with("step", lastStep.hold()));
      case "last" -> lastStep.is(message.number("step"));
      case "stop" -> stop.countDown();
      default ->
          throw new IllegalStateException("a message from a newer version: " + message.line());
    }
  }

  private Pulse pulse() {
    long used =
        ProcessHandle.current().info().totalCpuDuration().map(Duration::toMillis).orElse(0L);
    return new Pulse(recorder.places(), waitingFor.getAsInt(), used, recorder.last());
  }

  /** Waits for a word of the coordinator. */
  private <T> T fromCoordinator(Supplier<T> word) {
    IntSupplier before = waitingFor;
    waitingFor = () -> Pulse.COORDINATOR;
    try {
      return word.get();
    } finally {
      waitingFor = before;
    }
  }

  private void work(int worker, Message communication) throws Exception {
    WorkerTask task =
        Class.forName(communication.text("task"))
            .asSubclass(WorkerTask.class)
            .getDeclaredConstructor()
            .newInstance();
    Transport transport = transport(worker, communication);
    task.run(communication.text("job"), transport, new ControlReporter());
    // Nothing is closed: others may still wait for messages, and the end of the process closes all.
    control.send(Message.of("done"));
  }

  private Transport transport(int worker, Message communication) {
    boolean severalMachines = communication.number("sealed") != 0;
    Secret secret = Secret.ofHex(communication.text("secret"));
    Entrance entrance =
        Entrance.open(communication.text("host"), severalMachines, new Credentials(secret, tls));
    control.send(Message.of("entrance").with("address", entrance.address()));
    TcpTransport processors =
        fromCoordinator(() -> new TcpTransport(entrance, addresses(peers.join()), worker));
    waitingFor = processors::waitingFor;
    if (computing.device() == Device.CPU) {
      return processors;
    }
    int gpu = gpu(worker);
    return severalMachines
        ? new StagedTransport(processors)
        : GpuTransport.over(processors, recorderFile.resolveSibling(""), gpu);
  }

  private static List<String> addresses(Message peers) {
    return IntStream.range(0, (int) peers.number("workers"))
        .mapToObj(worker -> peers.text("worker " + worker))
        .toList();
  }

  private static int gpu(int worker) {
    try {
      return Gpu.use(worker);
    } catch (IllegalStateException e) {
      BadInputException mistake = new BadInputException(String.valueOf(e.getMessage()));
      mistake.initCause(e); // which says which library is missing, in the worker's log
      throw mistake;
    }
  }

  private Message failure(Throwable failure) {
    boolean lost = false;
    for (Throwable e = failure; e != null; e = e.getCause()) {
      lost |= e instanceof LostPeerException;
    }
    Message message =
        Message.of("failed")
            .with("what", describe(failure))
            .with("lost", lost ? 1 : 0)
            .with("input", failure instanceof BadInputException ? 1 : 0);
    return Places.put(message, FlightRecorder.last(recorderFile));
  }

  private static String describe(Throwable failure) {
    String message = failure.getMessage();
    boolean worded =
        failure instanceof BadInputException
            || failure instanceof UncheckedIOException
            || failure instanceof WrongMessageException;
    return worded && message != null ? message : failure.toString();
  }

  private static void end(int status) {
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(status); // threads of the library may still run
  }

  private final class ControlReporter implements Reporter {
    @Override
    public void event(String text) {
      control.send(Message.of("event").with("text", text));
    }

    @Override
    public String ask(String question) {
      control.send(Message.of("question").with("text", question));
      return fromCoordinator(() -> {
        try {
          return answers.take();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new IllegalStateException("interrupted while waiting for an answer", e);
        }
      });
    }

    @Override
    public LastStep lastStep() {
      return lastStep;
    }

    @Override
    public FlightRecorder recorder() {
      return recorder;
    }
  }
}
