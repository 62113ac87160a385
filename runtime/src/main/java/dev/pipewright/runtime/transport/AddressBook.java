package dev.pipewright.runtime.transport;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.runtime.tensor.Torch;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.PrefixStore;
import org.bytedeco.pytorch.Store;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.TCPStoreOptions;
import org.bytedeco.pytorch.global.torch_gloo;

/**
 * Where workers leave their addresses and find those of the others: a table of names in the process
 * of one of them. It trusts whoever reaches its port, so it belongs into a trusted network.
 */
public final class AddressBook implements AutoCloseable {
  static final int PATIENCE_MILLISECONDS = 30 * 60 * 1000; // libtorch's own

  private final TCPStore store;

  private AddressBook(String host, int port, boolean here) {
    Torch.load();
    Loader.load(torch_gloo.class);
    try (PointerScope scope = new PointerScope()) {
      TCPStoreOptions options = new TCPStoreOptions();
      options.port((short) port);
      options.isServer(here);
      options.waitWorkers(false);
      options.timeout(new Milliseconds(PATIENCE_MILLISECONDS));
      store = new TCPStore(host, options);
      store.retainReference();
    }
  }

  /**
   * A new one in this process.
   *
   * @param host the address by which this worker reaches itself
   * @param port 0 for any free one
   */
  public static AddressBook open(String host, int port) {
    try {
      return new AddressBook(host, port, true);
    } catch (RuntimeException e) {
      if (String.valueOf(e.getMessage()).contains("EADDRINUSE")) {
        throw new BadInputException(
            "port "
                + port
                + " is in use on this machine; name another one, or none for any free one");
      }
      throw e;
    }
  }

  /** The one in another process. */
  public static AddressBook at(String host, int port) {
    try {
      return new AddressBook(host, port, false);
    } catch (RuntimeException e) {
      throw new LostPeerException("no worker has an address book at " + host + ":" + port, e);
    }
  }

  /** Where others find it. */
  public int port() {
    return Short.toUnsignedInt(store.getPort());
  }

  /**
   * A part of it. Made for one native constructor: to pass the same object to a second one aborts
   * the process.
   */
  Store page(String name) {
    return new PrefixStore(name, store.clone()).clone();
  }

  /** Leaves something for the others. */
  void tell(String name, String text) {
    store.set(name, text);
  }

  /** What another has left or will leave. */
  String ask(String name) {
    try {
      return store.get_to_str(name);
    } catch (RuntimeException e) {
      throw new LostPeerException("no worker has told its " + name, e);
    }
  }

  /** A number that nobody else gets. */
  int number() {
    return Math.toIntExact(store.add("numbers", 1));
  }

  @Override
  public void close() {
    store.deallocate();
  }
}
