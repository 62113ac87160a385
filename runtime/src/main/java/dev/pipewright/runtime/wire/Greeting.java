package dev.pipewright.runtime.wire;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of a connection, while its channel blocks and its socket has a time limit for each
 * read: the handshake of TLS, where ends have certificates, and within it that of the secret.
 */
final class Greeting {
  /** Begins what TLS says to an end that does not go on: an alert. */
  private static final int ALERT = 21;

  /** A fatal alert, which says that no hello came. */
  private static final byte[] NO_HELLO = {ALERT, 3, 3, 0, 2, 2, 10};

  /** Within TLS, which encrypts already. */
  private static final Optional<EphemeralKey> UNSEALED = Optional.empty();

  private final SocketChannel channel;
  private final Credentials credentials;
  private @Nullable TlsFrames frames;

  private Greeting(SocketChannel channel, Credentials credentials) {
    this.channel = channel;
    this.credentials = credentials;
  }

  /**
   * Connects the guest's end.
   *
   * @throws WrongSecretException when the door knows another secret
   * @throws WrongCertificateException when one end does not accept the other's certificate
   */
  static Connection ofGuest(SocketChannel channel, Credentials credentials, int number)
      throws IOException {
    Greeting greeting = new Greeting(channel, credentials);
    Secret secret = greeting.encrypted(true);
    byte[] offer = greeting.read(Handshake.OFFER_BYTES);
    Handshake handshake = Handshake.ofGuest(secret, offer, number);
    greeting.write(handshake.answer());
    if (!handshake.isProof(greeting.read(Handshake.PROOF_BYTES))) {
      throw new WrongSecretException();
    }
    return greeting.connection(handshake, false);
  }

  /**
   * Connects a door's end, with certificates: without, a {@link Door} serves all in one thread.
   *
   * @throws WrongSecretException when the guest knows another secret
   */
  static Connection ofDoor(SocketChannel channel, Credentials credentials) throws IOException {
    Greeting greeting = new Greeting(channel, credentials);
    Secret secret = greeting.encrypted(false);
    byte[] offer = Handshake.offer(UNSEALED);
    greeting.write(offer);
    byte[] answer = greeting.read(Handshake.ANSWER_BYTES);
    Handshake handshake = Handshake.ofDoor(secret, offer, answer, UNSEALED);
    boolean right = handshake.proves(answer);
    greeting.write(right ? handshake.proof() : new byte[Handshake.PROOF_BYTES]);
    if (!right) {
      throw new WrongSecretException();
    }
    return greeting.connection(handshake, true);
  }

  /** The secret as this connection proves it, after the handshake of TLS if there is one. */
  private Secret encrypted(boolean guest) throws IOException {
    if (credentials.tls().isEmpty()) {
      return credentials.secret();
    }
    frames = new TlsFrames(credentials.tls().get().engine(guest));
    try {
      return credentials.secret().derived("pipewright TLS", frames.connect(channel));
    } catch (SocketTimeoutException e) {
      channel.write(ByteBuffer.wrap(NO_HELLO));
      throw e;
    }
  }

  private byte[] read(int count) throws IOException {
    if (frames != null) {
      ByteBuffer bytes = ByteBuffer.allocate(count);
      while (bytes.hasRemaining()) {
        frames.read(channel, bytes);
      }
      return bytes.array();
    }
    InputStream in = channel.socket().getInputStream();
    byte[] bytes = in.readNBytes(count);
    if (bytes.length == count) {
      return bytes;
    }
    if (bytes.length > 0 && bytes[0] == ALERT) {
      throw new WrongCertificateException(
          "lets in machines with certificates only; give --tls-cert, --tls-key and --tls-ca here,"
              + " too");
    }
    throw new EOFException("the other end has hung up");
  }

  private void write(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    if (frames != null) {
      frames.write(channel, buffer);
    }
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private Connection connection(Handshake handshake, boolean atDoor) throws IOException {
    Socket socket = channel.socket();
    socket.setSoTimeout(0);
    if (frames != null) {
      frames.greeted();
    }
    return Connection.of(channel, handshake, frames, atDoor);
  }
}
