import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

/** Patterns of third-party images, by file. */
const IMAGES: Readonly<Record<string, RegExp>> = {
  'deploy/Dockerfile': /^FROM (\S+)/gm,
  'docker-compose.yml': /^ +image: (\S+)$/gm,
  'deploy/helm/cadastre/values.yaml': /^ +image: (\S+)$/gm,
};

/** Images without a digest: the images of this project, earlier stages of the same file, and images for trials, whose digests no second source confirms. */
const WITHOUT_DIGEST = [
  'cadastre',
  'cadastre-executor',
  'product',
  'jaegertracing/jaeger:2.10.0',
  'andrewgaul/s3proxy:latest',
];

describe('the images of others', () => {
  it.each(Object.entries(IMAGES))('have digests in %s', async (file, pattern) => {
    const images = [...(await readFile(join(ROOT, file), 'utf8')).matchAll(pattern)].map(([, image = '']) => image);
    expect(images).not.toEqual([]);
    const unpinned = images.filter((image) => !/^[a-z0-9/.-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image));
    expect(unpinned.filter((image) => !WITHOUT_DIGEST.includes(image))).toEqual([]);
  });

  it('have the same digest wherever they have the same tag', async () => {
    const texts = await Promise.all(Object.keys(IMAGES).map((file) => readFile(join(ROOT, file), 'utf8')));
    const pinned = new Set(texts.join('\n').match(/\S+@sha256:\w+/g));
    const tags = [...pinned].map((image) => image.split('@')[0]);
    expect(tags).toEqual([...new Set(tags)]);
  });
});
