package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingRequest.Device;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MessageTest {
  @Test
  void whatIsWrittenIsRead() throws IOException {
    String text = "{\"a\": [1, 2]}\nline two \\ \" ü 😀";
    String line = Message.of("event").with("text", text).with("now", Long.MIN_VALUE).line();
    assertFalse(line.contains("\n"));
    Message read = Message.parse(line);
    assertEquals("event", read.kind());
    assertEquals(text, read.text("text"));
    assertEquals(Long.MIN_VALUE, read.number("now"));
    assertTrue(read.has("now") && !read.has("other"));
  }

  @Test
  void whatIsNoMessageIsRefused() {
    for (String line : List.of("", "GET / HTTP/1.1", "[1]", "{\"a\": {}}", "{\"a\": 1.5}", "{")) {
      assertThrows(IOException.class, () -> Message.parse(line), line);
    }
  }

  @Test
  void numbersAndNamesOutOfTheirRangeAreRefused() throws IOException {
    Message message = Message.parse("{\"count\": 4294967297, \"device\": \"TPU\"}");
    assertThrows(IOException.class, () -> message.whole("count", 1, 4));
    assertThrows(IOException.class, () -> message.whole("threads", 1, 4));
    assertThrows(IOException.class, () -> message.one(Device.class, "device"));
    assertEquals(3, Message.of("start").with("count", 3).whole("count", 1, 4));
    assertEquals(Device.CPU, Message.of("start").with("device", "CPU").one(Device.class, "device"));
  }

  @Test
  void eachTokenIsAnotherAndShowsItselfNowhere() {
    Token token = Token.random();
    assertEquals(32, token.text().length());
    assertNotEquals(token.text(), Token.random().text());
    assertEquals("a token", token.toString());
    assertEquals("a secret", token.with(Optional.empty()).secret().toString());
  }
}
