package dev.pipewright.runtime.launch;

import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * A line of a control connection: a flat JSON object of texts and whole numbers, whose field {@code
 * kind} says what it is about.
 */
final class Message {
  private static final JsonFactory JSON = new JsonFactory();
  private static final String KIND = "kind";

  private final Map<String, String> texts = new LinkedHashMap<>();
  private final Map<String, Long> numbers = new LinkedHashMap<>();

  static Message of(String kind) {
    return new Message().with(KIND, kind);
  }

  Message with(String field, String text) {
    texts.put(field, text);
    return this;
  }

  Message with(String field, long number) {
    numbers.put(field, number);
    return this;
  }

  String kind() {
    return text(KIND);
  }

  boolean has(String field) {
    return texts.containsKey(field) || numbers.containsKey(field);
  }

  /** Empty where it has none. */
  String text(String field) {
    return texts.getOrDefault(field, "");
  }

  /** 0 where it has none. */
  long number(String field) {
    return numbers.getOrDefault(field, 0L);
  }

  String line() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      texts.forEach(json::writeStringProperty);
      numbers.forEach(json::writeNumberProperty);
      json.writeEndObject();
    }
    return text.toString();
  }

  static Message parse(String line) throws IOException {
    Message message = new Message();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), line)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no control message: it is no object");
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        message.read(json);
      }
    } catch (JacksonException e) {
      throw new IOException("no control message", e);
    }
    return message;
  }

  private void read(JsonParser json) throws IOException {
    String field = json.currentName();
    switch (json.nextToken()) {
      case VALUE_STRING -> texts.put(field, json.getString());
      case VALUE_NUMBER_INT -> numbers.put(field, json.getLongValue());
      default -> throw new IOException("no control message: field " + field);
    }
  }
}
