/** Attacker: who serves the release, and what is in the way on the machine where the install script runs */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { run, succeed } from "../../tools/deno.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const SCRIPT = fromFileUrl(new URL("../../deploy/install/install.sh", import.meta.url));
/** The script knows no other systems; and Debian's `sh` is dash. */
const ignore = Deno.build.os !== "linux";
const NAME = `a2c-smcp-9.9.9-linux-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;

/** A release of a program that only says its version, and a user's home with a space in its name. */
class Release extends TempFolder {
  readonly home = join(this.path, "my home");
  readonly archive = join(this.path, `${NAME}.tar.gz`);

  async pack(): Promise<this> {
    await Deno.mkdir(this.home);
    await Deno.mkdir(join(this.path, NAME, "lib"), { recursive: true });
    const launcher = "#!/bin/sh\necho a2c-smcp 9.9.9\n";
    for (const name of ["a2c-smcp", "lib/deno"]) {
      await Deno.writeTextFile(join(this.path, NAME, name), launcher, { mode: 0o755 });
    }
    await succeed("tar", run("tar", ["-czf", this.archive, NAME], this.path));
    const { stdout } = await succeed("sha256sum", run("sha256sum", [`${NAME}.tar.gz`], this.path));
    await Deno.writeTextFile(join(this.path, "SHA256SUMS"), stdout);
    return this;
  }

  /** Installs it, and gives the exit code and what the script says. */
  async install(
    env: Readonly<Record<string, string>> = {},
    umask = "022",
  ): Promise<readonly [number, string]> {
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", `umask ${umask}; . "$0"`, SCRIPT],
      cwd: this.path,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: this.home, A2C_DOWNLOAD: `file://${this.path}`, ...env },
    }).output();
    return [code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
  }

  /** What the command of that home says. */
  async start(): Promise<string> {
    return (await succeed("a2c-smcp", run(join(this.home, ".local/bin/a2c-smcp"), [], "/"))).stdout;
  }
}

Deno.test({
  name: "an archive that is not the one of the checksums changes nothing",
  ignore,
  async fn() {
    using release = await new Release().pack();
    assertEquals((await release.install())[0], 0);
    const whole = await Deno.readFile(release.archive);
    for (const bytes of [whole.slice(0, -100), new Uint8Array()]) {
      await Deno.writeFile(release.archive, bytes);
      const [code, said] = await release.install();
      assertEquals(code, 1);
      assertStringIncludes(said, "checksum");
    }
    assertEquals(await release.start(), "a2c-smcp 9.9.9\n");
    assertEquals(
      [...Deno.readDirSync(join(release.home, ".local/share"))].length,
      1,
      "nothing is left behind",
    );
  },
});

Deno.test({
  name: "a folder that is no installation is not replaced, however it is named",
  ignore,
  async fn() {
    using release = await new Release().pack();
    const work = join(release.path, "work");
    await Deno.mkdir(`${work}.old`, { recursive: true });
    await Deno.mkdir(work);
    await Deno.writeTextFile(join(work, "thesis"), "precious");
    for (const folder of [work, `${work}/`, "work", release.home]) {
      const [code, said] = await release.install({ A2C_INSTALL: folder });
      assertEquals(code, 1, said);
      assertStringIncludes(said, "no installation");
    }
    assertEquals(await Deno.readTextFile(join(work, "thesis")), "precious");
    for (const round of ["new", "again"]) {
      const [code, said] = await release.install({ A2C_INSTALL: "other/" });
      assertEquals(code, 0, `${round}: ${said}`);
      assertEquals(await release.start(), "a2c-smcp 9.9.9\n", round);
    }
    assertEquals((await Deno.stat(`${work}.old`)).isDirectory, true);
    const [code, said] = await release.install({ HOME: "" });
    assertEquals(code, 1);
    assertStringIncludes(said, "HOME is not set");
  },
});

Deno.test({
  name: "the line that the install script prints lets a new terminal find the program",
  ignore,
  async fn() {
    using release = await new Release().pack();
    const [code, said] = await release.install({ SHELL: "/bin/bash" });
    assertEquals(code, 0, said);
    const [, line = ""] = /new terminal.*\n {2}(.*)\n$/.exec(said) ?? [];
    assertStringIncludes(line, ".bashrc");
    const options = { clearEnv: true, env: { PATH: "/usr/bin:/bin", HOME: release.home } };
    assertEquals((await new Deno.Command("bash", { args: ["-c", line], ...options }).output()).code, 0);
    const { stdout } = await new Deno.Command("bash", { args: ["-ic", "a2c-smcp"], ...options }).output();
    assertEquals(new TextDecoder().decode(stdout), "a2c-smcp 9.9.9\n");
    assertStringIncludes((await release.install({ SHELL: "/usr/bin/zsh" }))[1], "~/.zshrc");
    const known = { PATH: `/usr/bin:/bin:${release.home}/.local/bin` };
    assertEquals((await release.install(known))[1].endsWith("\nNext: a2c-smcp demo\n"), true);
  },
});

Deno.test({
  name: "a program that cannot be replaced stays where it was",
  ignore,
  async fn() {
    using release = await new Release().pack();
    assertEquals((await release.install())[0], 0);
    const tools = join(release.path, "tools");
    await Deno.mkdir(tools);
    const script = '#!/bin/sh\ncase "$1" in */new) exit 1 ;; esac\nexec /bin/mv "$@"\n';
    await Deno.writeTextFile(join(tools, "mv"), script, { mode: 0o755 });
    const [code, said] = await release.install({ PATH: `${tools}:/usr/bin:/bin` });
    assertEquals(code, 1);
    assertStringIncludes(said, "cannot write");
    assertEquals(await release.start(), "a2c-smcp 9.9.9\n");
  },
});

Deno.test({
  name: "a service of another user can start what was installed with a umask of 077",
  ignore,
  async fn() {
    using release = await new Release().pack();
    const folder = join(release.path, "opt", "a2c-smcp");
    for (const round of ["new", "again"]) {
      const [code, said] = await release.install({ A2C_INSTALL: folder }, "077");
      assertEquals(code, 0, said);
      for (const name of ["..", ".", "a2c-smcp", "lib", "lib/deno"]) {
        const { mode } = await Deno.stat(join(folder, name));
        assertEquals((mode ?? 0) & 0o777, 0o755, `${round}: ${name}`);
      }
    }
  },
});
