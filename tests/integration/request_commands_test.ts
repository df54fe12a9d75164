import { testRequestCommands } from "./_request_commands.ts";

// proves: desktop-render-text
testRequestCommands();
