package dev.pipewright.runtime.wire;

import dev.pipewright.execution.CertificateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.Security;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Sends much one way, with keys that last for 1 MiB instead of 128 GiB. */
final class KeyUpdateMain {
  private static final int MESSAGES = 40;
  private static final int MESSAGE_BYTES = 1 << 20;

  /** What arrives. */
  static final long BYTES = (long) MESSAGES * MESSAGE_BYTES;

  private KeyUpdateMain() {}

  /** Reads the three files of a certificate, and prints how many bytes have arrived. */
  public static void main(String[] arguments) throws Exception {
    Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate 2^20");
    Tls tls = Tls.of(new CertificateFiles(arguments[0], arguments[1], arguments[2]));
    Credentials credentials = new Credentials(Secret.ofText("secret"), Optional.of(tls));
    BlockingQueue<Connection> guests = new LinkedBlockingQueue<>();
    try (Door door =
        Door.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), true, credentials)) {
      door.receive("door", guests::add);
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), door.port());
      try (Connection guest = Connection.to(address, credentials, 1, Duration.ofSeconds(30));
          Connection host = guests.take()) {
        new Thread(() -> write(guest)).start();
        ByteBuffer got = ByteBuffer.allocate(MESSAGE_BYTES);
        long right = 0;
        for (int message = 0; message < MESSAGES; message++) {
          host.fill(got.clear());
          right += got.get(MESSAGE_BYTES - 1) == message ? MESSAGE_BYTES : 0;
        }
        host.write(ByteBuffer.wrap(new byte[] {1})); // with keys that have been renewed as often
        guest.fill(ByteBuffer.allocate(1));
        System.out.println(right + " bytes arrived");
      }
    }
  }

  private static void write(Connection connection) {
    ByteBuffer text = ByteBuffer.allocate(MESSAGE_BYTES);
    try {
      for (int message = 0; message < MESSAGES; message++) {
        text.put(MESSAGE_BYTES - 1, (byte) message);
        connection.write(text.clear());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
