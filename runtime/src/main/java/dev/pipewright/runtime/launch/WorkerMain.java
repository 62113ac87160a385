package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.runtime.tensor.Gpu;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.AddressBook;
import dev.pipewright.runtime.transport.GpuTransport;
import dev.pipewright.runtime.transport.LostPeerException;
import dev.pipewright.runtime.transport.TcpTransport;
import dev.pipewright.runtime.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** The process of one worker. It ends with its control connection, whatever it is doing. */
public final class WorkerMain {
  private static final int COORDINATOR_GONE = 3;

  private final Control control;
  private final Computing computing;
  private final Path recorderFile;
  private final FlightRecorder recorder;
  private final CompletableFuture<Message> job = new CompletableFuture<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final LastStep lastStep = new LastStep();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  private WorkerMain(Control control, Path recorderFile, Computing computing) {
    this.control = control;
    this.computing = computing;
    this.recorderFile = recorderFile;
    this.recorder = FlightRecorder.create(recorderFile);
  }

  /** Started by {@link Coordinator} and {@link JoinedHost} only. */
  public static void main(String[] arguments) throws IOException {
    int worker = Integer.parseInt(arguments[0]);
    Control control = Control.connect(arguments[1], Integer.parseInt(arguments[2]));
    String token = Optional.ofNullable(System.getenv(Token.VARIABLE)).orElse("");
    control.send(Message.of("worker").with("token", token).with("worker", worker));
    Device device = Device.valueOf(arguments[5]);
    int threads = Integer.parseInt(arguments[3]);
    Computing computing = new Computing(device, threads, Boolean.parseBoolean(arguments[6]));
    new WorkerMain(control, Path.of(arguments[4]), computing).run(worker);
  }

  private void run(int worker) {
    control.listen("control", this::told, () -> Runtime.getRuntime().halt(COORDINATOR_GONE));
    int status = 0;
    try {
      Torch.startAlone(computing.threads()); // while the others come
      if (computing.frugal()) {
        Torch.fillNewMemory();
      }
      work(worker, job.join());
    } catch (Throwable e) { // also errors: whatever it was, the coordinator is to know
      e.printStackTrace();
      control.send(failure(e));
      status = COORDINATOR_GONE;
    }
    awaitStop();
    end(status);
  }

  private void awaitStop() {
    try {
      stop.await();
    } catch (InterruptedException e) {
      // then it ends without being told to
    }
  }

  private void told(Message message) {
    switch (message.kind()) {
      case "job" -> job.complete(message);
      case "ping" ->
          control.send(
              Message.of("pong")
                  .with("sent", message.number("sent"))
                  .with("now", System.nanoTime()));
      case "answer" -> answers.add(message.text("text"));
      case "hold" -> control.send(Message.of("begun").with("step", lastStep.hold()));
      case "last" -> lastStep.is(message.number("step"));
      case "stop" -> stop.countDown();
      default ->
          throw new IllegalStateException("a message from a newer version: " + message.line());
    }
  }

  private void work(int worker, Message told) throws Exception {
    WorkerTask task =
        Class.forName(told.text("task"))
            .asSubclass(WorkerTask.class)
            .getDeclaredConstructor()
            .newInstance();
    int workers = (int) told.number("workers");
    Transport transport = transport(book(worker, told), told.text("host"), worker, workers);
    task.run(told.text("job"), transport, new ControlReporter());
    // Nothing is closed: others may still wait for messages, and the end of the process closes all.
    control.send(Message.of("done"));
  }

  private Transport transport(AddressBook book, String host, int worker, int workers) {
    TcpTransport processors = new TcpTransport(book, host, worker, workers);
    return switch (computing.device()) {
      case CPU -> processors;
      case CUDA -> GpuTransport.over(processors, book, host, gpu(worker));
    };
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

  private AddressBook book(int worker, Message told) {
    int port = (int) told.number("store_port");
    if (worker != 0) {
      return AddressBook.at(told.text("store_host"), port);
    }
    AddressBook book = AddressBook.open(told.text("host"), port);
    control.send(Message.of("store").with("port", book.port()));
    return book;
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
        failure instanceof BadInputException || failure instanceof UncheckedIOException;
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
      try {
        return answers.take();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for an answer", e);
      }
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
