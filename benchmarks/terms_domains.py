"""Which projects' documentation is judged, and which of it may be fitted to.

What is held out is looked at once, when everything else is done.
"""

from dataclasses import dataclass

from benchmarks.terms_builders import (
    Build,
    docbook_pages,
    docker_in_japanese,
    ethereum_in_japanese,
    fabric_in_japanese,
    git,
    git_in_japanese,
    markdown,
    openstack,
    page_a_term,
    python,
    sklearn,
    sphinx,
)
from benchmarks.terms_sources import Repository


@dataclass(frozen=True)
class Source:
    name: str
    language: str
    # It was looked at, and weights may be fitted to it. Neither is so of the others.
    is_tuned: bool
    repository: Repository
    build: Build


ANGULAR = Repository("angular/angular-ja", "a394bc9917307f71d3067ea27b83939e3d853803")
ANSIBLE = Repository("ansible/ansible-documentation", "ef72400cc2f70f974ffbb30b63098b31dbd36b07")
BAZEL = Repository("bazelbuild/bazel", "4ecfa6bc4d7c792772dedd8f630e2d60cb018c06")
CEPH = Repository("ceph/ceph", "7140eeecfb9e0334eee9ad86cb0612daef6096c8")
CILIUM = Repository("cilium/cilium", "6fd7b3f536d6da5ce8cdb48019ca50c3d52caf0a")
DOCKER = Repository("zembutsu/docs.docker.jp", "607a9b6fb5b94364652d48aa29f70ba5c8ed4846")
ELECTRON = Repository("electron/i18n", "b5831481c16a6e46c903c3dae849440f030171ef")
ETHEREUM = Repository("ethereum/ethereum-org-website", "e68841108d9806297986be2700644e4c6ed2f079")
FABRIC = Repository("hyperledger/fabric-docs-i18n", "3301561531fdc9d7d28cdf8e64567b8a273255c8")
FLINK = Repository("apache/flink", "c9be954ace02c5c0c19661833aeb61e958352702")
GIT = Repository("jnavila/git-manpages-l10n", "4970e6283f7e37858faa6b87169e754351b5e12f")
HUGO = Repository("gohugoio/hugoDocs", "1c613349f4220ae84070df25979d720c43e5cfa6")
IPFS = Repository("ipfs/ipfs-docs", "dc395c1bebb5eea8a828544bcfe3cee3a65d3e9c")
ISTIO = Repository("istio/istio.io", "8e87ee7fa81916bbff19cc8e264cce29a1d394ea")
KUBERNETES = Repository("kubernetes/website", "56464fe6c846523da555b49fbb012f0e270871ae")
MDN = Repository("mdn/translated-content", "1682ae49e23ad9f7b75d74c33b5d375fe9806d21")
MONGODB = Repository("mongodb/docs", "8ac83aeb89b96e41c0af88572086133d76ad3423")
NIX = Repository("NixOS/nix", "88b09c64fbea076a0376830d98e5331f70ed31a3")
NUMPY = Repository("numpy/numpy", "1f90bbb55e65e7de68921bc3f1a2d94492fdf689")
OPENSTACK = Repository("openstack/security-doc", "30a20af8acf2487d4758506b2235e5db1ce98559")
PACKAGING = Repository("pypa/packaging.python.org", "ab4994857826246587d993862fd4097e36568080")
PLONE = Repository("plone/documentation", "c05c5e3deb73df7ddb69be7d53991dc07b07514e")
POSTGRES = Repository("postgres/postgres", "e2c812f1475dc75ab6f8a39fb5696d8d32d05fa1")
POSTGRES_JAPANESE = Repository("pgsql-jp/jpug-doc", "e6c57f9174cd02b62da7a36f7691738670c163d1")
PYRAMID = Repository("Pylons/pyramid", "5b13e4a61b479be17c1d97ab504154595813a8f8")
PYTHON = Repository("python/python-docs-ja", "7eb90aaa6d3395bcfe01801ceb5e620eedf2356a")
REACT = Repository("reactjs/ja.reactjs.org", "d97d745bd1dee55af01e791bf2e895bce0a7a5d5")
RUSTC = Repository("rust-lang/rustc-dev-guide", "2cbf04342b4611800be07d4942db42be824cd899")
SALT = Repository("saltstack/salt", "8b63e700637e40d76f80a00d95c60471797c73b9")
SKLEARN = Repository("scikit-learn/scikit-learn", "be5a8a8bd493747a5d52c7700dc0f1d47b645be6")
SOLANA = Repository("solana-foundation/solana-com", "241155b995decac875b04dc83d58a5ccfec17ee0")
SQLALCHEMY = Repository("sqlalchemy/sqlalchemy", "f35da7e2b9349a08b8de1f6bd3b07c8bf8616790")
TELEMETRY = Repository(
    "open-telemetry/opentelemetry.io", "dd5997c8b9fafbf72ea6b8059ade242d88b8f118"
)
TIDB = Repository("pingcap/docs", "3414d2084a5e79d109643229ce12783191547287")
TIDB_JAPANESE = Repository("pingcap/docs", "e3db57270639b3d2f4949d8273f6b7b3ba2b029c")
VUE = Repository("vuejs-translations/docs-ja", "c627102bfabf8bc5ecaa6eb763b965a0a5d43a5b")

_HEADED = r"^### (.+?)(?:\s*\{.*)?$"


def _kubernetes(language: str) -> Build:
    folder = rf"^content/{language}/docs"
    return page_a_term(rf"{folder}/concepts/.*\.md$", rf"{folder}/reference/glossary/.*\.md$")


def _telemetry(language: str) -> Build:
    parts = "concepts|collector|platforms|specs|getting-started|zero-code|security|what-is"
    return markdown(
        rf"^content/{language}/docs/({parts}).*\.md$",
        f"content/{language}/docs/concepts/glossary.md",
        _HEADED,
        "glossary|configuration-registry",
    )


_POSTGRES = docbook_pages(
    "advanced|arch-dev|backup|charset|client-auth|config|ddl|dml|extend|high-availability|"
    "indices|jit|logical-replication|logicaldecoding|maintenance|manage-ag|monitoring|mvcc|"
    "parallel|perform|queries|query|rules|runtime|start|storage|syntax|trigger|user-manag|wal"
)
# The pages of the first folder and of one more: the whole is as large as ten of the others.
_TIDB = markdown(
    r"^(br/|best-practices/)?[^/]*\.md$",
    "glossary.md",
    _HEADED,
    "TOC|README|glossary|variable|configuration-file",
)

SOURCES = (
    Source("kubernetes-en", "en", True, KUBERNETES, _kubernetes("en")),
    Source("python-en", "en", True, PYTHON, python("en")),
    Source("packaging", "en", True, PACKAGING, sphinx(r"^source/.*\.rst$", "source/glossary.rst")),
    Source("openstack-en", "en", True, OPENSTACK, openstack("en")),
    Source(
        "ansible",
        "en",
        True,
        ANSIBLE,
        sphinx(
            r"^docs/docsite/rst/(getting_started|playbook_guide|inventory_guide|vault_guide|plugins|"
            r"module_plugin_guide|command_guide|tips_tricks|collections_guide)/.*\.rst$",
            "docs/docsite/rst/reference_appendices/glossary.rst",
        ),
    ),
    Source(
        "ceph",
        "en",
        True,
        CEPH,
        sphinx(
            r"^doc/(radosgw|rados|cephfs|rbd|cephadm|start|architecture)/.*\.rst$",
            "doc/glossary.rst",
        ),
    ),
    Source(
        "hugo",
        "en",
        True,
        HUGO,
        page_a_term(
            r"^content/en/.*\.md$",
            r"^content/en/quick-reference/glossary/",
            "/functions/|/methods/",
        ),
    ),
    Source(
        "istio",
        "en",
        True,
        ISTIO,
        page_a_term(
            r"^content/en/docs/(ambient|concepts|ops|overview|setup|tasks)/.*\.md$",
            r"^content/en/docs/reference/glossary/.*\.md$",
        ),
    ),
    Source(
        "numpy",
        "en",
        True,
        NUMPY,
        sphinx(
            r"^doc/source/(user|reference|dev)/[^/]*\.rst$",
            "doc/source/glossary.rst",
            "routines|release",
        ),
    ),
    Source(
        "pyramid",
        "en",
        True,
        PYRAMID,
        sphinx(
            r"^docs/(narr|tutorials|quick_tutorial|designdefense|quick_tour).*\.rst$",
            "docs/glossary.rst",
        ),
    ),
    Source(
        "cilium",
        "en",
        True,
        CILIUM,
        sphinx(
            r"^Documentation/(gettingstarted|network|security|operations|overview|observability)/.*\.rst$",
            "Documentation/glossary.rst",
        ),
    ),
    Source("postgres", "en", False, POSTGRES, _POSTGRES),
    Source("scikit-learn", "en", False, SKLEARN, sklearn),
    Source("opentelemetry-en", "en", False, TELEMETRY, _telemetry("en")),
    Source("git-en", "en", False, GIT, git),
    Source(
        "sqlalchemy",
        "en",
        False,
        SQLALCHEMY,
        sphinx(r"^doc/build/(orm|core|tutorial|faq)/.*\.rst$", "doc/build/glossary.rst"),
    ),
    Source(
        "flink",
        "en",
        False,
        FLINK,
        markdown(
            r"^docs/content/docs/(concepts|deployment|dev|internals|learn-flink|ops)/.*\.md$",
            "docs/content/docs/concepts/glossary.md",
            r"^#### (.+)$",
        ),
    ),
    Source("tidb-en", "en", False, TIDB, _TIDB),
    Source(
        "ipfs", "en", False, IPFS, markdown(r"^docs/.*\.md$", "docs/concepts/glossary.md", _HEADED)
    ),
    Source(
        "salt",
        "en",
        False,
        SALT,
        sphinx(r"^doc/(topics|ref/[^/]*)/[^/]*\.rst$", "doc/glossary.rst", "release"),
    ),
    Source(
        "bazel",
        "en",
        False,
        BAZEL,
        markdown(
            r"^docs/.*\.mdx$",
            "docs/reference/glossary.mdx",
            _HEADED,
            r"^docs/(versions|release|community|contribute)/|/be/|command-line-reference|bep-glossary",
        ),
    ),
    Source(
        "plone",
        "en",
        False,
        PLONE,
        markdown(r"^docs/.*\.md$", "docs/glossary.md", r"^([^\s`:(#-].*)\n(?= {4}\S)"),
    ),
    Source(
        "rustc",
        "en",
        False,
        RUSTC,
        markdown(
            r"^src/.*\.md$",
            "src/appendix/glossary.md",
            r"^<span id=\"[^\"]*\">(.+?)</span>",
            "SUMMARY",
        ),
    ),
    Source(
        "mongodb",
        "en",
        False,
        MONGODB,
        sphinx(
            r"^content/manual/v8\.0/source/(core/|administration/)?[^/]*\.txt$",
            "content/manual/v8.0/source/reference/glossary.txt",
            "release|changelog",
        ),
    ),
    Source(
        "nix",
        "en",
        False,
        NIX,
        markdown(
            r"^doc/manual/source/.*\.md$",
            "doc/manual/source/glossary.md",
            r"^- \[(.+?)\]\{#gloss",
            "release-notes|SUMMARY",
        ),
    ),
    Source("kubernetes-ja", "ja", True, KUBERNETES, _kubernetes("ja")),
    Source(
        "mdn-ja",
        "ja",
        True,
        MDN,
        page_a_term(
            r"^files/ja/web/(http|security|performance|accessibility|progressive_web_apps)/.*index\.md$",
            r"^files/ja/glossary/.*\.md$",
        ),
    ),
    Source("openstack-ja", "ja", True, OPENSTACK, openstack("ja")),
    Source(
        "angular-ja",
        "ja",
        True,
        ANGULAR,
        markdown(
            r"^aio-ja/content/(guide|tutorial|start)/.*\.md$",
            "aio-ja/content/guide/glossary.md",
            r"^## (.+?)(?:\s*\{.*)?$",
            r"\.en\.md$|\.old",
        ),
    ),
    Source("ethereum-ja", "ja", True, ETHEREUM, ethereum_in_japanese),
    Source("fabric-ja", "ja", True, FABRIC, fabric_in_japanese),
    Source(
        "vue-ja",
        "ja",
        True,
        VUE,
        markdown(
            r"^src/(guide|tutorial|api|style-guide)/.*\.md$",
            "src/glossary/index.md",
            r"^## (.+?)(?:\s*\{.*)?$",
        ),
    ),
    Source("python-ja", "ja", False, PYTHON, python("ja")),
    Source("opentelemetry-ja", "ja", False, TELEMETRY, _telemetry("ja")),
    Source("git-ja", "ja", False, GIT, git_in_japanese),
    Source("postgres-ja", "ja", False, POSTGRES_JAPANESE, _POSTGRES),
    Source("tidb-ja", "ja", False, TIDB_JAPANESE, _TIDB),
    Source("docker-ja", "ja", False, DOCKER, docker_in_japanese),
    Source(
        "electron-ja",
        "ja",
        False,
        ELECTRON,
        markdown(r"^content/ja-JP/docs/.*\.md$", "content/ja-JP/docs/glossary.md", _HEADED),
    ),
    Source(
        "react-ja",
        "ja",
        False,
        REACT,
        markdown(
            r"^content/(docs|tutorial)/.*\.md$",
            "content/docs/reference-glossary.md",
            r"^#{2,3} (.+?)(?:\s*\{.*)?$",
        ),
    ),
    Source(
        "solana-ja",
        "ja",
        False,
        SOLANA,
        markdown(
            r"^apps/docs/content/docs/ja/.*\.mdx$",
            "apps/docs/content/docs/ja/references/terminology.mdx",
            r"^## (.+)$",
        ),
    ),
)
