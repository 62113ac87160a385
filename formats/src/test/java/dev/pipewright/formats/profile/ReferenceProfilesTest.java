package dev.pipewright.formats.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.GraphText;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.profile.Profile.Quantity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Other people's measured profiles: as many states and seconds as their own programs find. */
class ReferenceProfilesTest {
  private static Path reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), name);
    assumeTrue(Files.exists(file), "no reference profile " + file);
    return file;
  }

  @ParameterizedTest
  @CsvSource({
    "pipedream/vgg16.graph.txt, 40",
    "pipedream/alexnet.graph.txt, 22",
    "pipedream/resnet18.graph.txt, 100",
    "pipedream/resnet50.graph.txt, 240",
    "pipedream/squeezenet1_0.graph.txt, 99",
    "pipedream/gnmt.graph.txt, 99",
    "dapple/vgg-19-pbs-32.txt, 25",
    "dapple/amoeba-36-pbs-1.txt, 43",
    "dapple/gnmt-32-pbs-64-simplified.txt, 62",
    "dapple/xlnet-36-pbs-1.txt, 41",
    "dapple/bert-48-pbs-2.txt, 55",
    "dapple/gnmt-16-pbs-64.txt, 1495",
  })
  void numberOfPlacesToCut(String name, int positions) {
    assertEquals(positions, Chain.of(GraphText.read(reference(name), 1).graph()).size());
  }

  @ParameterizedTest
  @CsvSource({
    "bert-48-pbs-2, 2, 64, 11.000224",
    "bert-48-pbs-2, 2, 2, 0.343757",
    "vgg-19-pbs-32, 32, 1024, 4.61472",
    "xlnet-36-pbs-1, 1, 128, 38.49088",
    "amoeba-36-pbs-1, 1, 128, 21.5104",
    "gnmt-32-pbs-64-simplified, 64, 1024, 7.129776",
  })
  void secondsOfOneDeviceForABatch(String name, int profileBatch, int samples, double seconds) {
    var profile = GraphText.read(reference("dapple/" + name + ".txt"), profileBatch).profile();
    double sum =
        Arrays.stream(profile.seconds(Quantity.FORWARD, samples)).sum()
            + Arrays.stream(profile.seconds(Quantity.BACKWARD, samples)).sum();
    assertEquals(seconds, sum, 1e-9 * seconds);
  }

  @ParameterizedTest
  @CsvSource({
    "dapple/vgg-19-pbs-32.txt",
    "dapple/amoeba-36-pbs-1.txt",
    "dapple/gnmt-32-pbs-64-simplified.txt",
    "dapple/xlnet-36-pbs-1.txt",
    "dapple/bert-48-pbs-2.txt",
    "pipedream/resnet50.graph.txt",
  })
  void aReferenceCutInHalfIsRefused(String name, @TempDir Path folder) throws IOException {
    String whole = Files.readString(reference(name), StandardCharsets.UTF_8);
    Path half =
        Files.writeString(folder.resolve("half.txt"), whole.substring(0, whole.length() / 2 + 7));
    assertThrows(BadInputException.class, () -> GraphText.read(half, 2));
  }

  @Test
  void aReferenceComesBackEqualThroughAProfile(@TempDir Path folder) {
    ModelFile model = GraphText.read(reference("pipedream/resnet50.graph.txt"), 128);
    Path file = folder.resolve("profile.json");
    ProfileJson.write(file, model);
    assertEquals(model, ProfileJson.read(file));
  }
}
