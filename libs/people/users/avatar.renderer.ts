import { createHash } from 'node:crypto';

/** Ids of users, and of the teams, organizations and agent pools that a token shows as a service account. */
const WELL_FORMED = /^(?:user|team|org|apool|run)-[A-Za-z0-9]{16}$/;

const CELLS = 5;
const CELL = 16;
const EDGE = CELL / 2;

/**
 * Returns the avatar of an account as SVG, or null for a text that is no id of one. The picture follows from the id alone:
 * a pattern of squares, mirrored, in one color. An id that exists nowhere has an avatar too, so that it reveals nothing.
 */
export const renderAvatar = (id: string): string | null => {
  if (!WELL_FORMED.test(id)) return null;
  const bytes = createHash('sha256').update(id).digest();
  const hue = Math.floor((bytes.readUInt16BE(0) * 360) / 65_536);
  const half = Math.ceil(CELLS / 2);
  const squares = Array.from({ length: CELLS * half }, (_, n) => ({ row: Math.floor(n / half), column: n % half }))
    .filter((_, n) => ((bytes[2 + n] ?? 0) & 1) === 1)
    .flatMap(({ row, column }) => [...new Set([column, CELLS - 1 - column])].map((x) => renderSquare(x, row)));
  const size = CELLS * CELL + 2 * EDGE;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${size} ${size}">` +
    `<rect width="${size}" height="${size}" fill="#f4f4f5"/>` +
    `<path fill="hsl(${hue} 55% 45%)" d="${squares.join('')}"/></svg>`
  );
};

const renderSquare = (column: number, row: number): string =>
  `M${EDGE + column * CELL} ${EDGE + row * CELL}h${CELL}v${CELL}h-${CELL}z`;

/** Returns where the avatar of an account is, relative to the server's address as all links of documents are. */
export const buildAvatarPath = (id: string): string => `/api/v2/users/${id}/avatar`;
