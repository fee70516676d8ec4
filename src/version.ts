/** The package's version, read from package.json when the bundle is made. */
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
