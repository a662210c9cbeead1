#!/usr/bin/env bash
# Checks the dependency rule for every #include of the library and the program.
# usage: include_graph.sh MODULES [TREE]
# MODULES contains a line "module: modules that it may include" for each module, from
# src/CMakeLists.txt; TREE is the source tree (default: the working folder).
set -euo pipefail
modules=$(realpath "$1")
cd "${2:-.}"

# CUDA headers, also outside of the modules; tests/emulated provides a replacement.
others=()
for folder in bench tests docs; do [[ -d $folder ]] && others+=("$folder"); done
if ((${#others[@]})) && grep -rnE --include='*.hpp' --include='*.cpp' --include='*.cu' \
  --exclude-dir=emulated '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(cuda|cub/|thrust/|cusolver)' \
  "${others[@]}"; then
  echo "CUDA headers may be included under kernels/ only" && exit 1
fi

# CUDA code does not reach Eigen, also not by other headers: nvcc warns of it.
reaches_eigen() {
  local header place
  while read -r header; do
    [[ $header == Eigen/* ]] && echo "$1" && return 0
    for place in "$(dirname "$1")" . include src tests; do
      [[ -f $place/$header && ! -v seen[$place/$header] ]] || continue
      seen[$place/$header]=1
      reaches_eigen "$place/$header" && echo "  included by $1" && return 0
      break
    done
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^">]*).*/\1/p' "$1")
  return 1
}
declare -A seen
while read -r file; do
  reaches_eigen "$file" && echo "CUDA code may not include Eigen" && exit 1
done < <(find . -name '*.cu' -not -path './build/*')

# Includes as "file:line:header", without brackets and quotes.
folders=()
for folder in include src kernels python; do [[ -d $folder ]] && folders+=("$folder"); done
grep -rnE --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.cuh' \
  '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' "${folders[@]}" |
  sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]*)[>"].*/:\1/' |
  awk -F: -v sources="$(find src -name '*.cpp' -not -path 'src/cli/*' -not -path 'src/papers/*' | tr '\n' ' ')" '
    # The module of a path: src/io/x and tarn/io/x -> io; tarn/x.hpp -> the module with x.cpp.
    function module_of(path, parts, n, stem) {
      sub(/^include\//, "", path)
      sub(/^src\//, "", path)
      n = split(path, parts, "/")
      if (parts[1] != "tarn") return (parts[1] in may_include) ? parts[1] : ""
      if (n > 2) return parts[2]
      stem = parts[2]
      sub(/\.hpp$/, "", stem)
      if (stem ~ /^(state|system)$/) return "physics"
      if (stem ~ /^(engine|observer|potential)$/) return "interface"
      if (stem ~ /^(version|build_features)$/) return "core"
      if (stem == "single_point") return "engine"  # in cluster_forces.cpp
      if (stem ~ /^(deck_text|start_state|model_by_name)$/) return "deck"  # in deck.cpp
      if (match(sources, "src/[a-z_]+/" stem "\\.cpp ")) {
        split(substr(sources, RSTART), parts, "/")
        return parts[2]
      }
      return (stem in may_include) ? stem : "interface"
    }
    function complain(why) {
      print $1 ":" $2 ": " why
      bad = 1
    }
    # First the table, then the includes from the pipe.
    FNR == NR { may_include[$1] = " " $1 " " $2 " "; next }
    {
      ++seen
      from = module_of($1)
      what = $3
      if (from == "") { complain("the folder is not a module of src/CMakeLists.txt"); next }
      if (what ~ /^(cuda|cub\/|thrust\/|cusolver|cublas|curand|nv\/)/ && from != "kernels")
        complain(what " belongs under kernels/ only")
      # Headers that take the compiler long are included by one file each.
      if (what ~ /^toml/ && $1 != "src/deck/source.cpp") complain(what " belongs in src/deck/source.cpp only")
      if (what ~ /^CLI/ && $1 != "src/cli/command.cpp") complain(what " belongs in src/cli/command.cpp only")
      if (what ~ /^Eigen\// && what !~ /\/(Core|Geometry)$/ && $1 != "src/core/dense.cpp" && $1 !~ /mechanics|papers/)
        complain("solvers of Eigen belong in src/core/dense.cpp only")
      if (what ~ /^(nanobind\/|Python\.h)/ && from != "python")
        complain(what " belongs under python/ only")
      if (what ~ /^(hdf5|H5)/ && from != "io") complain(what " belongs in src/io only")
      if (what ~ /^mpi\.h/ && from != "parallel") complain(what " belongs in src/parallel only")
      if (what ~ /^(\.\.\/|.*\/\.\.\/)/) complain("include \"" what "\" by its path from src/")
      to = (what ~ /\//) ? module_of(what) : ""
      if (to != "" && index(may_include[from], " " to " ") == 0)
        complain("\"" what "\": " from " may not include " to)
    }
    END {
      if (seen == 0) { print "no #include was found; check that this is the source tree"; bad = 1 }
      if (!bad) print seen " includes follow the rule"
      exit bad
    }' "$modules" -
