import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

import openapi from "./openapi.json" with { type: "json" };

/** What a request may say of how many runs there are at a time. */
const { minimum, maximum, default: usual } = openapi.components.schemas.MaterializePartitions.properties.concurrency;

/** What Airflow's page shares with its plugins: never part of the bundle. */
const shared = {
  "@chakra-ui/react": "ChakraUI",
  "@emotion/react": "EmotionReact",
  react: "React",
  "react-dom": "ReactDOM",
  "react-router-dom": "ReactRouterDOM",
  "react/jsx-runtime": "ReactJSXRuntime",
};

export default defineConfig({
  plugins: [react()],
  define: {
    "process.env.NODE_ENV": JSON.stringify("production"),
    CONCURRENCY: JSON.stringify({ minimum, maximum, usual }),
  },
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    lib: { entry: "src/main.tsx", name: "AirflowPlugin", formats: ["umd"], fileName: () => "partitions.umd.js" },
    rolldownOptions: { external: Object.keys(shared), output: { globals: shared } },
  },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    isolate: false, // of files that share a process: to import all of React and Chakra takes longer than most tests
    testTimeout: 60_000,
    restoreMocks: true,
  },
});
