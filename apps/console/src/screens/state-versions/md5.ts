/* MD5, which browsers do not have. The API identifies the content of a state by it. */

/** Shifts of the four rounds (RFC 1321, section 3.4). */
const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

const STEPS = Array.from({ length: 64 }, (_, step) => step);
/** The word of the block that each step adds. */
const WORDS = Uint8Array.from(STEPS, (step) => ([step, 5 * step + 1, 3 * step + 5, 7 * step][step >> 4] ?? 0) % 16);
const TURNS = Uint8Array.from(STEPS, (step) => SHIFTS[step >> 4]?.[step % 4] ?? 0);
const CONSTANTS = Int32Array.from(STEPS, (step) => Math.floor(2 ** 32 * Math.abs(Math.sin(step + 1))) | 0);

const mix = (round: number, b: number, c: number, d: number): number => {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (d & b) | (~d & c);
  return round === 2 ? b ^ c ^ d : c ^ (b | ~d);
};

const BLOCK = 64;

type Numbers = Int32Array | Uint8Array;

const getAt = (numbers: Numbers, index: number): number => numbers[index] ?? 0;

const add = (state: Int32Array, index: number, value: number): void => {
  state[index] = (getAt(state, index) + value) | 0;
};

/** Destructuring would take twice as long. */
const addBlock = (state: Int32Array, block: DataView, offset: number): void => {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let step = 0; step < 64; step += 1) {
    const word = block.getInt32(offset + 4 * getAt(WORDS, step), true);
    const sum = (a + mix(step >> 4, b, c, d) + getAt(CONSTANTS, step) + word) | 0;
    const turn = getAt(TURNS, step);
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0;
  }
  add(state, 0, a);
  add(state, 1, b);
  add(state, 2, c);
  add(state, 3, d);
};

/** Returns the last bytes with the padding: a bit, zeros and the number of bits. */
const pad = (rest: Uint8Array, length: number): DataView => {
  const padded = new Uint8Array(rest.length + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  padded.set(rest);
  padded[rest.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(length) * 8n, true);
  return view;
};

/** Returns the MD5 of the bytes in hexadecimal. */
export const computeMd5 = (bytes: Uint8Array): string => {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const full = bytes.length - (bytes.length % BLOCK);
  for (let offset = 0; offset < full; offset += BLOCK) addBlock(state, view, offset);
  const last = pad(bytes.subarray(full), bytes.length);
  for (let offset = 0; offset < last.byteLength; offset += BLOCK) addBlock(state, last, offset);
  return [...new Uint8Array(state.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};
