package dev.pipewright.bench.plot;

/** How a series looks: a colour and a marker of its own. */
enum Look {
  BLUE("#0072B2", ""),
  ORANGE("#E69F00", "M-4.5 -4.5H4.5V4.5H-4.5Z"),
  GREEN("#009E73", "M0 -5.5L5.5 4.5H-5.5Z"),
  VERMILION("#D55E00", "M0 -6L6 0L0 6L-6 0Z"),
  PURPLE("#CC79A7", "M0 5.5L5.5 -4.5H-5.5Z"),
  SKY("#56B4E9", "M-5 -1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z"),
  BLACK("#1A1A1A", "M-5.5 -2.5H5.5V2.5H-5.5Z"),
  GREY("#7F7F7F", "M-2.5 -5.5H2.5V5.5H-2.5Z");

  final String colour;
  private final String shape; // around the origin; a circle where empty

  Look(String colour, String shape) {
    this.colour = colour;
    this.shape = shape;
  }

  static Look of(int index) {
    return values()[index % values().length];
  }

  void mark(Svg svg, double x, double y) {
    String style = "fill=\"" + colour + "\" stroke=\"#FFFFFF\" stroke-width=\"1\"";
    if (shape.isEmpty()) {
      svg.circle(x, y, 5, style);
    } else {
      String where = "translate(" + Svg.number(x) + " " + Svg.number(y) + ")";
      svg.path(shape, style + " transform=\"" + where + "\"");
    }
  }

  void line(Svg svg, String commands, int width) {
    String style = "fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"" + width + "\"";
    svg.path(commands, style);
  }
}
