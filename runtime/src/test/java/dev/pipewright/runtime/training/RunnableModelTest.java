package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.BadInputException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunnableModelTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          no-such | no-such: no such model; give a file or a name that `models` lists
          mlp:width=64 | mlp:width=64: 'width=64' is not understood; write key=number with a key of layers, hidden, in, classes
          """)
  void aMistakeIsSaidInOneSentence(String name, String sentence) {
    assertEquals(
        sentence, assertThrows(BadInputException.class, () -> RunnableModel.of(name)).getMessage());
  }
}
