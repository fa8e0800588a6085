import { configure } from "@testing-library/react";

// A busy machine may take some seconds for what takes milliseconds.
configure({ asyncUtilTimeout: 20_000 });
