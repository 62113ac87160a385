package dev.pipewright.bench.fuzz;

import dev.pipewright.execution.JoinRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.launch.JoinedHost;
import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import dev.pipewright.runtime.wire.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Control messages of a coordinator that are damaged before they are sealed: the machine that has
 * joined it ends in one sentence that names the coordinator.
 */
final class ControlTrial implements Trial {
  private static final String HOST = "127.0.0.1";

  /** None of them starts a worker. */
  private static final List<String> SEEDS =
      List.of(
          "{\"kind\":\"refused\",\"why\":\"no worker is missing any more\"}\n",
          "{\"kind\":\"stop\",\"why\":\"worker 1 failed\"}\n",
          "{\"kind\":\"start\",\"device\":\"CPU\",\"first\":2,\"count\":0,\"heap\":256,"
              + "\"threads\":1,\"frugal\":0,\"apart\":1}\n");

  @Override
  public String name() {
    return "control messages";
  }

  @Override
  public Optional<Campaign.Finding> one(Runner runner, int number, long seed) {
    String line = SEEDS.get(new SplittableRandom(seed).nextInt(SEEDS.size()));
    byte[] damaged = new Mutation(seed).of(line.getBytes(StandardCharsets.UTF_8));
    String text = new String(damaged, StandardCharsets.UTF_8).strip();
    String what = text.substring(0, Math.min(200, text.length()));
    return runner.judged(name(), number, what, () -> join(damaged));
  }

  private static void join(byte[] line) throws IOException {
    String token = "fuzz";
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Door door = Door.open(any, true, Credentials.of(Secret.ofText(token)))) {
      door.receive("door", connection -> say(connection, line));
      String address = HOST + ":" + door.port();
      String said;
      try {
        said =
            JoinedHost.run(JoinRequest.once(HOST, door.port(), token, 1, Optional.empty()))
                .orElse("");
      } catch (BadInputException e) {
        said = String.valueOf(e.getMessage());
        if (!said.startsWith(address)) {
          throw new IllegalStateException("says: " + said, e);
        }
      }
      if (said.lines().count() > 1) {
        throw new IllegalStateException("says: " + said);
      }
    }
  }

  private static void say(Connection connection, byte[] line) {
    try (connection) {
      connection.write(ByteBuffer.wrap(line));
    } catch (IOException e) {
      // it has gone
    }
  }
}
