/** What the OpenAPI document says of how many runs there may be at a time; put in its place by the build. */
declare const CONCURRENCY: { readonly minimum: number; readonly maximum: number; readonly usual: number };
