//! The import graph of a crate, and the cycles in it.
//!
//! Every folder is checked by itself: its children (files and folders) are the nodes, and a path
//! that starts with `crate`, `super` or `self` and leads from one child into another is an edge.
//! The `mod.rs` of a folder is not a node. Test code is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{self, Visit};

/// The path of a module from the root of its crate.
pub type Module = Vec<String>;

/// The import graph.
#[derive(Debug, Default)]
pub struct Imports {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

impl Imports {
    /// Reads the modules of a crate from pairs of a path below `src` and its text.
    pub fn of_sources(sources: &[(String, String)]) -> syn::Result<Self> {
        let modules: BTreeSet<Module> = sources.iter().map(|(path, _)| module(path)).collect();
        let mut edges = BTreeMap::new();
        for (path, text) in sources {
            let mut paths = Paths {
                at: module(path),
                found: Vec::new(),
            };
            paths.visit_file(&syn::parse_file(text)?);
            let targets = paths.found.into_iter().filter_map(|mut target: Module| {
                while !modules.contains(&target) {
                    target.pop()?;
                }
                Some(target)
            });
            edges.insert(module(path), targets.collect());
        }
        Ok(Self { edges })
    }

    /// Reads the modules of the crate with this source folder.
    pub fn of_crate(src: &Path) -> std::io::Result<Self> {
        let mut sources = Vec::new();
        read(src, "", &mut sources)?;
        Self::of_sources(&sources).map_err(std::io::Error::other)
    }

    /// Every set of two or more modules of one folder that import each other in a cycle.
    pub fn cycles(&self) -> Vec<String> {
        let folders: BTreeSet<&[String]> = self
            .edges
            .keys()
            .flat_map(|module| (0..module.len()).map(|depth| &module[..depth]))
            .collect();
        folders
            .into_iter()
            .flat_map(|folder| {
                let components = components(&self.inside(folder));
                components
                    .into_iter()
                    .map(|component| format!("{}: {}", folder.join("::"), component.join(" ")))
            })
            .collect()
    }

    /// The edges between the children of a folder.
    fn inside(&self, folder: &[String]) -> BTreeMap<&str, BTreeSet<&str>> {
        let child = |module: &'_ Module| -> Option<usize> {
            (module.starts_with(folder) && module.len() > folder.len()).then_some(folder.len())
        };
        let mut inside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, targets) in &self.edges {
            let Some(depth) = child(from) else { continue };
            let reached = inside.entry(&from[depth]).or_default();
            for to in targets {
                if child(to).is_some() && to[depth] != from[depth] {
                    reached.insert(&to[depth]);
                }
            }
        }
        inside
    }
}

/// The strongly connected components with two or more nodes.
fn components(graph: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Vec<String>> {
    let reach = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &next in graph.get(node).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|&node| (node, reach(node))).collect();
    let mut groups = BTreeSet::new();
    for (&node, seen) in &reached {
        if seen.contains(node) {
            let mutual = seen
                .iter()
                .filter(|other| reached.get(**other).is_some_and(|back| back.contains(node)));
            groups.insert(mutual.map(ToString::to_string).collect::<Vec<_>>());
        }
    }
    groups.into_iter().collect()
}

/// The module of a file.
fn module(path: &str) -> Module {
    let mut names: Module = path
        .trim_end_matches(".rs")
        .split('/')
        .map(ToString::to_string)
        .collect();
    if matches!(
        names.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        names.pop();
    }
    names
}

/// Collects the Rust files below a folder, except for test files.
fn read(folder: &Path, prefix: &str, sources: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{prefix}{name}/"), sources)?;
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(entry.path())?;
            sources.push((format!("{prefix}{name}"), text));
        }
    }
    Ok(())
}

/// Finds the paths in a file that refer to modules of its crate.
struct Paths {
    at: Module,
    found: Vec<Module>,
}

impl Paths {
    fn add(&mut self, names: &[String]) {
        let mut target = match names.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.at.clone(),
            _ => return,
        };
        for name in names {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => drop(target.pop()),
                name => target.push(name.into()),
            }
        }
        self.found.push(target);
    }

    fn add_tree(&mut self, tree: &syn::UseTree, names: &mut Module) {
        match tree {
            syn::UseTree::Path(path) => {
                names.push(path.ident.to_string());
                self.add_tree(&path.tree, names);
                names.pop();
            }
            syn::UseTree::Name(name) => {
                names.push(name.ident.to_string());
                self.add(names);
                names.pop();
            }
            syn::UseTree::Rename(name) => {
                names.push(name.ident.to_string());
                self.add(names);
                names.pop();
            }
            syn::UseTree::Glob(_) => self.add(names),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(tree, names);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Module = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.add(&names);
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let for_tests = item.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test"))
        });
        if !for_tests {
            self.at.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.at.pop();
        }
    }
}
