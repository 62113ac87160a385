package dev.pipewright.app.cli.plan;

import dev.pipewright.formats.file.OutputFolder;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;

/** The answer for a step's plan, to which a kind of search adds what it alone knows. */
abstract class FurtherAnswer implements PlannerAnswer {
  /** For the plan itself. */
  final Answer answer;

  FurtherAnswer(Answer answer) {
    this.answer = answer;
  }

  @Override
  public String json() {
    return answer.json();
  }

  @Override
  public void print(PrintWriter out) {
    answer.print(out);
  }

  @Override
  public Optional<Answer> planned() {
    return answer.planned();
  }

  @Override
  public Optional<String> nothing() {
    return answer.nothing();
  }

  @Override
  public boolean fits() {
    return answer.fits();
  }

  @Override
  public List<String> remarks() {
    return answer.remarks();
  }

  @Override
  public List<String> files() {
    return answer.files();
  }

  @Override
  public Optional<PlanExporter> exporter() {
    return answer.exporter();
  }

  @Override
  public void write(OutputFolder out) {
    answer.write(out);
  }
}
