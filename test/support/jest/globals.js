// The runner has put them into the global scope. `@jest/globals` itself throws outside of Jest's own `vm` contexts.
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globalThis;
