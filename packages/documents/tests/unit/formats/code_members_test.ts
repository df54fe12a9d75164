import { assertEquals } from "@std/assert";
import { openFile } from "./_open.ts";

/** What makes a type long enough: comments in its first member. */
const FILLER = "x".repeat(4_000);

/** The headings of a file with their levels, and its code. */
async function read(fileName: string, code: string): Promise<{ headings: string[]; code: string }> {
  const { elements } = await (await openFile(fileName, code)).page(0);
  return {
    headings: elements.flatMap((element) =>
      element.category === "heading" ? [`${element.content.level} ${element.content.text}`] : []
    ),
    code: elements.flatMap((element) => element.category === "code" ? [element.content.code] : []).join("\n"),
  };
}

const MEMBERS: Readonly<Record<string, readonly [code: string, headings: readonly string[]]>> = {
  "a.ts": [
    "export class One<T> {\n  readonly a = new Map();\n  // FILLER\n  constructor(a = {}) {\n    if (a) { run(); }\n  }\n  @tick()\n  async *#run<T>(b: string): AsyncGenerator<T> {\n    for (const c of b) { }\n  }\n  get c() { return 1; }\n  onClick = (e: Event) => {\n  };\n}\ndescribe(1, () => {\n});\nfoo(function () {\n});\n",
    [
      "2 export class One<T>",
      "3 constructor(a",
      "3 async *#run<T>(b: string): AsyncGenerator<T>",
      "3 get c()",
      "3 onClick = (e: Event)",
    ],
  ],
  "a.java": [
    'public class One extends Base {\n  // FILLER\n  private final Map<String, Integer> a = new HashMap<>();\n  static {\n    run();\n  }\n  public One(int a) {\n    super(a);\n  }\n\n  /** Runs. */\n  @Override\n  @Named("a{")\n  public <T> List<T> run(String b) throws IOException {\n    while (true) { }\n  }\n  abstract void no();\n  private static class Node {\n    void inner() {}\n  }\n}\n',
    [
      "2 public class One extends Base",
      "3 public One(int a)",
      "3 public <T> List<T> run(String b) throws IOException",
      "3 private static class Node",
    ],
  ],
  "a.cs": [
    'namespace A;\npublic class One : Base\n{\n    // FILLER\n    public int A { get; set; }\n    private readonly List<int> b = new List<int>();\n    public One(int a) : base(a)\n    {\n    }\n    [Test]\n    public async Task<int> Run(string b)\n    {\n        if (b) { }\n    }\n    public override string ToString() => $"{b}";\n}\n',
    [
      "2 public class One : Base",
      "3 public One(int a) : base(a)",
      "3 public async Task<int> Run(string b)",
      "3 public override string ToString()",
    ],
  ],
  "a.cpp": [
    "template <class T>\nclass Box {\n // FILLER\n public:\n  Box();\n  void put(T t) { if (t) { } }\n private:\n  T get() const\n  {\n  }\n  int x = max(1, 2);\n  struct Node { int a; };\n};\nint after(int a) {\n  while (a) { }\n}\n",
    [
      "2 template <class T> class Box",
      "3 void put(T t)",
      "3 T get() const",
      "3 struct Node",
      "2 int after(int a)",
    ],
  ],
  "a.py": [
    'class One(Base):\n    """FILLER\n    def no(self): pass\n    """\n    x = 1\n\n    @property\n    def a(self):\n        def inner(): pass\n        if x: pass\n\n    async def b(self,\n                c=1):\n        pass\n    class Meta:\n        pass\n\nX = 1\ndef f(a):\n    pass\n',
    ["2 class One(Base)", "3 def a(self)", "3 async def b(self, c=1)", "3 class Meta", "2 def f(a)"],
  ],
  "a.kt": [
    'class One(val a: Int) : Base() {\n  // FILLER\n  val b = listOf(1)\n  init { run() }\n  override fun run(c: Int): String = "$c"\n  companion object {\n    fun inner() {}\n  }\n}\n',
    [
      "2 class One(val a: Int) : Base()",
      "3 init",
      '3 override fun run(c: Int): String = "$c"',
      "3 companion object",
    ],
  ],
  "a.rs": [
    "impl<T> One<T> {\n    // FILLER\n    const A: u8 = 1;\n    /// Runs.\n    #[inline]\n    pub async fn run(&self) -> Result<(), E> {\n        fn inner() {}\n    }\n    fn stop(&self) {}\n}\n",
    ["2 impl<T> One<T>", "3 pub async fn run(&self) -> Result<(), E>", "3 fn stop(&self)"],
  ],
  "a.rb": [
    "module A\n  class B < C\n    # FILLER\n    attr_reader :a\n    def run(x)\n      if x\n        1\n      end\n    end\n    def self.stop = 1\n  end\nend\n",
    ["2 module A", "2 class B < C", "3 def run(x)", "3 def self.stop = 1"],
  ],
  "a.php": [
    "<?php\nfinal class B {\n  // FILLER\n  private $a = array();\n  public function c(array $a = []): ?string { if ($a) { } }\n  abstract protected function d();\n}\n",
    ["2 final class B", "3 public function c(array $a = []): ?string", "3 abstract protected function d()"],
  ],
  "a.swift": [
    "public final class B: C {\n  // FILLER\n  var a = [1]\n  init(a: Int) { }\n  override func run<T>(b: T) -> Int { if b { } }\n  struct Node { }\n}\n",
    ["2 public final class B: C", "3 init(a: Int)", "3 override func run<T>(b: T) -> Int", "3 struct Node"],
  ],
  "a.scala": [
    "class B(a: Int) extends C {\n  // FILLER\n  val x = 1\n  override def run(b: Int): Unit = {\n    def inner = 1\n  }\n  object Node {\n  }\n}\n",
    ["2 class B(a: Int) extends C", "3 override def run(b: Int): Unit", "3 object Node"],
  ],
};

for (const [fileName, [code, headings]] of Object.entries(MEMBERS)) {
  Deno.test(`the members of a long type of ${fileName} are told, and no text is lost`, async () => {
    const long = code.replace("FILLER", FILLER);
    const found = await read(fileName, long);
    assertEquals(found.headings, headings);
    assertEquals(found.code.replace(/\n+/g, "\n").trim(), long.replace(/\n+/g, "\n").trim());
    assertEquals(
      (await read(fileName, code)).headings,
      headings.filter((text) => text.startsWith("2 ")),
      "short",
    );
  });
}
