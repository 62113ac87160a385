package dev.pipewright.bench.fuzz;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Entrance;
import dev.pipewright.runtime.transport.LostPeerException;
import dev.pipewright.runtime.transport.TcpTransport;
import dev.pipewright.runtime.transport.WrongMessageException;
import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import dev.pipewright.runtime.wire.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Tensors from another worker whose names, sizes or values are damaged before they are sealed: they
 * arrive as sent, or the receiver has lost its peer.
 */
final class TensorTrial implements Trial {
  private static final String HOST = "127.0.0.1";
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final float[] VALUES = {1, 2, 3, 4, 5, 6};
  private static final int TAG = 3;

  @Override
  public String name() {
    return "tensor messages";
  }

  @Override
  public Optional<Campaign.Finding> one(Runner runner, int number, long seed) {
    byte[] damaged = new Mutation(seed).ofBytes(message());
    return runner.judged(name(), number, Arrays.toString(damaged), () -> receive(damaged));
  }

  /** Channel, tag and bytes of the values, and the values. */
  private static byte[] message() {
    ByteBuffer message = ByteBuffer.allocate(20 + Float.BYTES * VALUES.length);
    message.putLong(0).putInt(TAG).putLong((long) Float.BYTES * VALUES.length);
    for (float value : VALUES) {
      message.putInt(Integer.reverseBytes(Float.floatToIntBits(value)));
    }
    return message.array();
  }

  private static void receive(byte[] message) throws IOException {
    Credentials secret = Credentials.of(Secret.random());
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Door other = Door.open(any, true, secret)) {
      other.receive("other worker", connection -> {});
      Entrance entrance = Entrance.open(HOST, true, secret);
      String address = entrance.address();
      int port = Integer.parseInt(address.substring(0, address.indexOf(' ')));
      try (Connection connection =
          Connection.to(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port), secret, 1, PATIENCE)) {
        connection.write(ByteBuffer.wrap(message));
        connection.channel().shutdownOutput(); // it has no more to say
        try (TcpTransport transport =
                new TcpTransport(entrance, List.of(address, other.port() + " " + HOST), 0);
            Tensor into = Tensor.of(new float[VALUES.length], VALUES.length)) {
          transport.receive(into, 1, TAG).await();
          if (!Arrays.equals(Arrays.copyOfRange(message, 0, 20), Arrays.copyOf(message(), 20))) {
            throw new IllegalStateException("a message of another name or size arrives");
          }
        } catch (LostPeerException | WrongMessageException e) {
          // as it should be
        }
      }
    }
  }
}
