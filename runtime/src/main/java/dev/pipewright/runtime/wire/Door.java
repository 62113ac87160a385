package dev.pipewright.runtime.wire;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * A port at which those are let in who know the secret. One thread serves all who come: strangers
 * that are silent, slow or wrong delay no one else, and there are never more than {@link
 * #MOST_STRANGERS} of them; then the one that has been there longest goes.
 */
public final class Door implements AutoCloseable {
  /** Connections that have proved nothing yet. */
  static final int MOST_STRANGERS = 128;

  private static final long DEADLINE_NANOSECONDS = 5_000_000_000L;
  private static final int SILENCE_MILLISECONDS = 4_000; // of TLS, whose guests speak first
  private static final long TICK_MILLISECONDS = 500;
  private static final int QUEUE = 256; // of connections that the system keeps for us

  /** Takes over who has been let in, in the door's thread, which it must not keep. */
  public interface Guests {
    void welcome(Connection connection);
  }

  private static final class Stranger {
    private final SocketChannel channel;
    private final byte[] offer;
    private final ByteBuffer answer = ByteBuffer.allocate(Handshake.ANSWER_BYTES);
    private final long came = System.nanoTime();

    private Stranger(SocketChannel channel, byte[] offer) {
      this.channel = channel;
      this.offer = offer;
    }
  }

  private final ServerSocketChannel server;
  private final Selector selector;
  private final Optional<EphemeralKey> key; // where frames are sealed
  private final Credentials credentials;

  /** The first has waited longest. Who takes one out says what becomes of it. */
  private final Deque<Stranger> strangers = new ConcurrentLinkedDeque<>();

  private volatile @Nullable Thread thread; // from receive on

  private Door(ServerSocketChannel server, boolean sealed, Credentials credentials)
      throws IOException {
    this.server = server;
    this.selector = Selector.open();
    this.key =
        sealed && credentials.tls().isEmpty()
            ? Optional.of(EphemeralKey.random())
            : Optional.empty();
    this.credentials = credentials;
  }

  /**
   * Opens the port; connections wait until {@link #receive}.
   *
   * @param at port 0 for any free one
   * @param sealed whether frames are encrypted and authenticated, which they are in any case where
   *     there are certificates
   */
  public static Door open(InetSocketAddress at, boolean sealed, Credentials credentials)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    try {
      server.bind(at, QUEUE);
      server.configureBlocking(false);
      return new Door(server, sealed, credentials);
    } catch (IOException e) {
      server.close();
      throw e;
    }
  }

  public int port() {
    return server.socket().getLocalPort();
  }

  /** Has all come in who know the secret, until it is closed. */
  public void receive(String name, Guests guests) {
    Thread serving = new Thread(() -> serve(guests), name);
    serving.setDaemon(true);
    thread = serving;
    serving.start();
  }

  private void serve(Guests guests) {
    try {
      server.register(selector, SelectionKey.OP_ACCEPT);
      while (server.isOpen()) {
        selector.select(TICK_MILLISECONDS);
        for (SelectionKey key : List.copyOf(selector.selectedKeys())) {
          if (!(key.attachment() instanceof Stranger stranger)) {
            accept(guests);
          } else if (key.isValid()) { // it has not been dropped for another
            hear(key, stranger, guests);
          }
        }
        selector.selectedKeys().clear();
        dropLate();
      }
    } catch (IOException | ClosedSelectorException e) {
      // it has been closed
    } finally {
      strangers.forEach(stranger -> close(stranger.channel));
      close(selector);
    }
  }

  private void accept(Guests guests) {
    SocketChannel channel = null;
    try {
      channel = server.accept();
      if (channel == null) {
        return;
      }
      Stranger stranger = new Stranger(channel, Handshake.offer(key));
      if (strangers.size() >= MOST_STRANGERS) {
        dropFirst();
      }
      strangers.add(stranger);
      if (credentials.tls().isPresent()) {
        greet(stranger, guests);
        return;
      }
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, stranger);
      channel.write(ByteBuffer.wrap(stranger.offer)); // a new connection has room for it
    } catch (IOException e) {
      if (channel != null) {
        close(channel);
      } else { // this process has no more files for connections
        dropFirst();
      }
    }
  }

  /** Serves one with certificates, in a thread of its own: TLS takes turns, and time. */
  private void greet(Stranger stranger, Guests guests) {
    Thread thread =
        new Thread(
            () -> {
              try {
                stranger.channel.socket().setSoTimeout(SILENCE_MILLISECONDS);
                Connection connection = Greeting.ofDoor(stranger.channel, credentials);
                if (strangers.remove(stranger)) {
                  guests.welcome(connection);
                }
              } catch (IOException e) {
                drop(stranger);
              }
            },
            "stranger");
    thread.setDaemon(true);
    thread.start();
  }

  private void hear(SelectionKey key, Stranger stranger, Guests guests) {
    try {
      if (stranger.channel.read(stranger.answer) < 0) {
        drop(stranger);
      } else if (!stranger.answer.hasRemaining()) {
        strangers.remove(stranger);
        key.cancel();
        selector.selectNow(); // so that the channel may block from here on
        answer(stranger, guests);
      }
    } catch (IOException e) {
      drop(stranger);
    }
  }

  private void answer(Stranger stranger, Guests guests) throws IOException {
    byte[] answer = stranger.answer.array();
    Handshake handshake = Handshake.ofDoor(credentials.secret(), stranger.offer, answer, key);
    boolean right = handshake.proves(answer);
    byte[] proof = right ? handshake.proof() : new byte[Handshake.PROOF_BYTES];
    stranger.channel.write(ByteBuffer.wrap(proof)); // likewise
    if (right) {
      stranger.channel.configureBlocking(true);
      guests.welcome(Connection.of(stranger.channel, handshake, null, true));
    } else {
      close(stranger.channel);
    }
  }

  private void dropLate() {
    long now = System.nanoTime();
    Stranger first = strangers.peek();
    while (first != null && now - first.came > DEADLINE_NANOSECONDS) {
      if (strangers.remove(first)) {
        close(first.channel);
      }
      first = strangers.peek();
    }
  }

  private void dropFirst() {
    Stranger first = strangers.poll();
    if (first != null) {
      close(first.channel);
    }
  }

  private void drop(Stranger stranger) {
    strangers.remove(stranger);
    close(stranger.channel);
  }

  private static void close(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      // it is of no use any more either way
    }
  }

  /**
   * Refuses new guests; those who are in stay. Returns when the port is closed, which the
   * selector's thread does; the caller must not hold what {@link Guests#welcome} waits for.
   */
  @Override
  public void close() {
    close(server);
    Thread serving = thread;
    if (serving == null) {
      close(selector);
    } else {
      selector.wakeup();
      awaitEnd(serving);
    }
  }

  private static void awaitEnd(Thread serving) {
    if (serving.equals(Thread.currentThread())) {
      return;
    }
    try {
      serving.join(TICK_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
