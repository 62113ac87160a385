package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JoinCommandTest {
  @ParameterizedTest
  @ValueSource(strings = {"host", ":7000", "host:", "host:port", "host:0", "host:-1", "host:70000"})
  void whatIsNoAddressIsSaid(String where) {
    assertEquals(
        where + ": is no address; give HOST:PORT as `train` printed it",
        Cli.run("join", where).refusal(2));
  }

  @Test
  void aMachineTakesAWorkerOrMore() {
    assertEquals(
        "--slots: 0 is too few; give a whole number >= 1",
        Cli.run("join", "host:7000", "--slots", "0").refusal(2));
  }

  @Test
  void certificatesComeWithTheirKeyAndAuthorities() {
    assertEquals(
        "--tls-key is missing; give --tls-cert, --tls-key and --tls-ca together",
        Cli.run("train", "mlp-8x1024", "--tls-cert", "a.pem", "--tls-ca", "b.pem").refusal(2));
    assertEquals(
        "--tls-cert: all workers run on this machine; leave it out, or add --remote-workers N",
        Cli.run("train", "mlp-8x1024", "--tls-cert=a.pem", "--tls-key=a.key", "--tls-ca=b.pem")
            .refusal(2));
  }

  @Test
  void theTokenComesFromTheEnvironment() {
    assertEquals(
        "PIPEWRIGHT_TOKEN is not set; set it to the token that `train` printed",
        Cli.run("join", "host:7000").refusal(2));
  }
}
