/** A submodule as the file `.gitmodules` declares it. Everything else in the file, such as commands for updates, is ignored. */
export type DeclaredSubmodule = { readonly path: string; readonly url: string };

const SECTION = /^\[\s*submodule\s+"((?:[^"\\]|\\.)*)"\s*\]$/;
const ENTRY = /^(path|url)\s*=\s*(.*)$/i;

/** Returns the value of a line, without its comment and its quotes. */
const toValue = (text: string): string => {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  return quoted ? (quoted[1] ?? '').replaceAll(/\\(.)/g, '$1') : text.replace(/\s+[#;].*$/, '').trim();
};

type Section = { path?: string; url?: string };

/** Returns the section of a line that begins one; null for sections that are about no submodule. */
const openSection = (line: string, sections: Map<string, Section>): Section | null => {
  const [, name] = SECTION.exec(line) ?? [];
  if (name === undefined) return null;
  const section = sections.get(name) ?? {};
  sections.set(name, section);
  return section;
};

/** Returns the submodules that a file declares with a path and a URL. As in Git, the last line of a name and key counts. */
export const parseGitModules = (text: string): readonly DeclaredSubmodule[] => {
  const sections = new Map<string, Section>();
  let current: Section | null = null;
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line.startsWith('[')) current = openSection(line, sections);
    const [, key, value = ''] = ENTRY.exec(line) ?? [];
    if (current && key) current[key.toLowerCase() as keyof Section] = toValue(value);
  }
  return [...sections.values()].flatMap(({ path, url }) => (path && url ? [{ path, url }] : []));
};

/** Returns the path without empty parts; null if a submodule cannot be there. */
export const toSubmodulePath = (path: string): string | null => {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  const isRefused = path.startsWith('/') || segments.some((segment) => segment === '..' || /^\.git$/i.test(segment));
  return isRefused || segments.length === 0 || /\p{Cc}/u.test(path) ? null : segments.join('/');
};

const parseUrl = (url: string, base: URL): URL | null => {
  // The short form of SSH has no scheme, and a colon before its path.
  const [, host, path = ''] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.*)$/.exec(url) ?? [];
  if (host !== undefined) return URL.parse(`ssh://${host}/${path}`);
  return /^\.\.?\//.test(url) ? URL.parse(url, base.href) : URL.parse(url);
};

/**
 * Returns whether a repository of the URL is one of the host. SSH has another port than the pages for people, and its URLs keep capital
 * letters.
 */
const isOfHost = (url: URL, host: URL): boolean =>
  url.protocol === 'ssh:'
    ? url.hostname.toLowerCase() === host.hostname
    : ['http:', 'https:'].includes(url.protocol) && url.host === host.host;

/**
 * Returns the identifier of the repository that the URL of a submodule names; null if it is none of this Git host. Other hosts,
 * files and commands are never reached.
 */
export const resolveSubmodule = (url: string, httpUrl: string, identifier: string): string | null => {
  const host = URL.parse(httpUrl);
  if (!host) return null;
  const root = host.pathname.replace(/\/+$/, '');
  const parsed = parseUrl(url, new URL(`${root}/${identifier}/`, host));
  if (!parsed || !isOfHost(parsed, host)) return null;
  const isBelow = parsed.pathname.startsWith(`${root}/`);
  if (!isBelow && parsed.protocol !== 'ssh:') return null;
  const path = isBelow ? parsed.pathname.slice(root.length) : parsed.pathname;
  const name = path
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return name === '' ? null : name;
};
