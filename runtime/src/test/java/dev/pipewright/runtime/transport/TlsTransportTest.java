package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Secret;
import dev.pipewright.runtime.wire.TestAuthority;
import dev.pipewright.runtime.wire.Tls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** As between machines with certificates. */
class TlsTransportTest extends SealedTransportTest {
  @TempDir static Path folder;
  private static Optional<Tls> tls = Optional.empty();

  @BeforeAll
  static void sign() {
    tls = Optional.of(Tls.of(TestAuthority.in(folder, "authority").certificate("machine")));
  }

  @Override
  Credentials credentials() {
    return new Credentials(Secret.random(), tls);
  }

  @Override
  Relay relay(Relay.Does what) throws IOException {
    return Relay.ofTls(what);
  }
}
