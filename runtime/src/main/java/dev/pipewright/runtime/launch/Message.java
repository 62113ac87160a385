package dev.pipewright.runtime.launch;

import java.io.StringWriter;
import java.net.ProtocolException;
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

  /** A number that makes sense only from {@code least} to {@code most}. */
  int whole(String field, int least, int most) throws ProtocolException {
    long number = number(field);
    if (number < least || number > most) {
      throw new ProtocolException(field + " is " + number);
    }
    return (int) number;
  }

  /** One of the names of a closed set. */
  <E extends Enum<E>> E one(Class<E> of, String field) throws ProtocolException {
    for (E value : of.getEnumConstants()) {
      if (value.name().equals(text(field))) {
        return value;
      }
    }
    throw new ProtocolException(field + " is '" + text(field) + "'");
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

  /** Reads a line; throws where it is no such object. */
  static Message parse(String line) throws ProtocolException {
    Message message = new Message();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), line)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new ProtocolException("it is no object");
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        message.read(json);
      }
    } catch (JacksonException e) {
      throw new ProtocolException("it is no JSON");
    }
    return message;
  }

  private void read(JsonParser json) throws ProtocolException {
    String field = json.currentName();
    switch (json.nextToken()) {
      case VALUE_STRING -> texts.put(field, json.getString());
      case VALUE_NUMBER_INT -> numbers.put(field, json.getLongValue());
      default -> throw new ProtocolException(field + " is neither text nor a whole number");
    }
  }
}
