import { createHash } from 'node:crypto';

/** Ids of accounts: users, and the teams, organizations, agent pools and runs that are shown as service accounts. */
const WELL_FORMED = /^(?:user|team|org|apool|run)-[A-Za-z0-9]{16}$/;

const CELLS = 5;
const CELL = 16;
const EDGE = CELL / 2;

/**
 * Returns the avatar of an account as SVG, or null if the text is not the id of an account. The picture depends on the
 * id alone: a mirrored pattern of squares in one color. Unknown ids have an avatar too, so that it does not reveal
 * which accounts exist.
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

/** Returns the path of an account's avatar, relative to the server like all links in documents. */
export const buildAvatarPath = (id: string): string => `/api/v2/users/${id}/avatar`;
