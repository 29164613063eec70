/** Returns whether a client accepts an encoding. A quality of 0 refuses it (RFC 9110 §12.5.3). */
export const parseAcceptEncoding = (header: string | string[] | undefined): ((encoding: string) => boolean) => {
  const qualities = new Map(
    [header ?? []]
      .flat()
      .join(',')
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
        return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))] as const;
      }),
  );
  return (encoding) => qualities.get(encoding) ?? qualities.get('*') ?? false;
};
