package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatasetSpecTest {
  private static final DatasetRequirements IMAGES =
      new DatasetRequirements(
          "cnn",
          List.of(new DatasetRequirements.Input.Field(Shape.of(3, 32, 32))),
          new DatasetRequirements.Answer.Classes(10));
  private static final DatasetRequirements TOKENS =
      new DatasetRequirements(
          "gpt",
          List.of(new DatasetRequirements.Input.Tokens(16, 100)),
          new DatasetRequirements.Answer.Tokens(16, 100));

  @Test
  void theUsualFormsAreRead() {
    assertEquals(
        new DatasetSpec.Synthetic("synthetic", Optional.empty(), 10_000, OptionalInt.empty(), 1),
        DatasetSpec.parse("synthetic"));
    assertEquals(
        new DatasetSpec.Synthetic(
            "synthetic:images,samples=500,classes=7,seed=3",
            Optional.of(SyntheticKind.IMAGES),
            500,
            OptionalInt.of(7),
            3),
        DatasetSpec.parse("synthetic:images,samples=500,classes=7,seed=3"));
    assertEquals(
        500, ((DatasetSpec.Synthetic) DatasetSpec.parse("synthetic:samples=500")).samples());
    assertEquals(
        new DatasetSpec.Cifar10("cifar10:/data/c", Path.of("/data/c")),
        DatasetSpec.parse("cifar10:/data/c"));
    assertEquals(
        new DatasetSpec.Text("text:C:/a.txt", Path.of("C:/a.txt")),
        DatasetSpec.parse("text:C:/a.txt"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          cifar:x                       | --data cifar:x: unknown 'cifar'; did you mean "cifar10"?
          mnist                         | --data mnist: where the data lie is missing; write mnist:PATH
          synthetic:dogs                | --data synthetic:dogs: unknown 'dogs'; write one of images, tokens, volumes, pairs
          synthetic:images,seed         | --data synthetic:images,seed: 'seed' is not understood; write key=number with a key of samples, classes, seed
          synthetic:images,samples=0    | --data synthetic:images,samples=0: samples=0 makes no sense; write a whole number from 1 to 1000000000000
          synthetic:seed=1,seed=2       | --data synthetic:seed=1,seed=2: seed stands twice; keep one
          """)
  void mistakesAreOneSentence(String text, String sentence) {
    assertEquals(
        sentence,
        assertThrows(BadInputException.class, () -> DatasetSpec.parse(text)).getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          synthetic:tokens              | this is text, but cnn reads images of 3×32×32; try synthetic:images
          synthetic:images,classes=11   | the data have 11 classes, but cnn tells 10 apart; take a network with classes=11 or more
          synthetic:volumes             | volumes have up to 4 quantities as answers, but cnn reads images of 3×32×32 and answers with one of 10 classes; take a network such as cosmoflow
          synthetic:pairs               | pairs of sentences are two inputs, but cnn reads images of 3×32×32; take a network such as gnmt
          text:/no/such/file            | this is text, but cnn reads images of 3×32×32; try synthetic:images
          """)
  void dataThatDoNotSuitTheNetworkAreOneSentence(String text, String sentence) {
    DatasetSpec spec = DatasetSpec.parse(text);
    assertEquals(
        "--data " + text + ": " + sentence,
        assertThrows(BadInputException.class, () -> spec.open(IMAGES)).getMessage());
  }

  @Test
  void aVocabularyBelowTheBytesIsTooSmallForText() {
    DatasetSpec spec = DatasetSpec.parse("text:a.txt");
    assertEquals(
        "--data text:a.txt: text has 256 tokens, one for each byte, but gpt knows 100; take a"
            + " network with vocabulary=256 or more",
        assertThrows(BadInputException.class, () -> spec.open(TOKENS)).getMessage());
    DatasetSpec large = DatasetSpec.parse("synthetic:tokens,classes=200");
    assertEquals(
        "--data synthetic:tokens,classes=200: 200 tokens are more than gpt knows; write classes="
            + " with at most 100",
        assertThrows(BadInputException.class, () -> large.open(TOKENS)).getMessage());
  }
}
