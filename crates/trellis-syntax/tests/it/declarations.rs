//! Declarations, functions, processes and the system line of the textual language.

use trellis_syntax::uppaal::ast::{ChanRef, Decl, Dim, Init, Stmt};

use crate::show::{show, show_type, xta};

fn vars(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for decl in xta(text).decls {
        let Decl::Vars(vars) = decl else { panic!("{decl:?}") };
        for name in vars.names {
            let dims = name.dims.iter().map(|dim| match dim {
                Dim::Expr(e) => format!("[{}]", show(e)),
                Dim::Type(ty) => format!("[{}]", show_type(ty)),
            });
            let init = name.init.as_ref().map_or(String::new(), |i| format!(" = {}", show_init(i)));
            out.push(format!("{} {}{}{init}", show_type(&vars.ty), name.name.name, dims.collect::<String>()));
        }
    }
    out
}

fn show_init(init: &Init) -> String {
    match init {
        Init::Expr(e) => show(e),
        Init::List(list, _) => {
            let parts = list.iter().map(|(field, init)| match field {
                Some(field) => format!("{}: {}", field.name, show_init(init)),
                None => show_init(init),
            });
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn variables_of_all_types() {
    assert_eq!(vars("int a, b = 2;"), ["int a", "int b = 2"]);
    assert_eq!(vars("const int[0, N-1] x := 1;"), ["const int[0,(N Sub 1)] x = 1"]);
    assert_eq!(vars("meta bool m; hybrid clock h; clock c[2];"), ["meta bool m", "hybrid clock h", "clock c[2]"]);
    assert_eq!(
        vars("urgent broadcast chan c; broadcast urgent chan d;"),
        ["urgent broadcast chan c", "urgent broadcast chan d"]
    );
    assert_eq!(vars("id_t x[id_t][int[0,3]][4];"), ["id_t x[id_t][int[0,3]][4]"]);
    assert_eq!(vars("scalar[3] s; double d; string t;"), ["scalar[3] s", "<double> d", "<string> t"]);
    assert_eq!(
        vars("struct { int a; bool b, c[2]; } s = { 1, b: true, { false, true } };"),
        ["struct{int a;bool b,c;} s = {1, b: true, {false, true}}"]
    );
    assert_eq!(vars("chan priority; int sum, select, exit, meta_x, A, E, U;").len(), 8);
}

#[test]
fn typedefs_and_externs() {
    let nta = xta("typedef int[0,3] id_t; typedef struct { id_t a; } s_t, t_t[2];\
                   extern UnionBitVector; extern L = Product(Sign, Parity);\
                   extern Sec = Hasse(low < mid, mid < high); extern Mine from \"mine.lua\";");
    let Decl::Typedef { names, .. } = &nta.decls[1] else { panic!() };
    assert_eq!(
        names.iter().map(|n| (n.name.name.as_str(), n.dims.len())).collect::<Vec<_>>(),
        [("s_t", 0), ("t_t", 1)]
    );
    let externs = nta.decls[2..].iter().map(|decl| match decl {
        Decl::Extern { name, def, file, .. } => {
            (name.name.clone(), def.as_ref().map(show), file.as_ref().map(|(f, _)| f.clone()))
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(
        externs.collect::<Vec<_>>(),
        [
            ("UnionBitVector".to_string(), None, None),
            ("L".to_string(), Some("Product(Sign, Parity)".to_string()), None),
            ("Sec".to_string(), Some("Hasse((low Lt mid), (mid Lt high))".to_string()), None),
            ("Mine".to_string(), None, Some("mine.lua".to_string())),
        ]
    );
}

#[test]
fn functions_with_all_statements() {
    let nta = xta("int f(int a, int &b, const id_t c[2]) {
        int i, s = 0;
        typedef int[0,3] local_t;
        id_t j;
        ;
        for (i = 0, s = 1; i < 3; i++) s += i;
        for (;;) { break; }
        for (k : id_t) for (l : int[0,3]) s = k + l;
        while (s > 0) { s--; continue; }
        do s++; while (s < 3);
        if (a) return 1; else if (b) { return 2; } else return 3;
        if (a) if (b) s = 1; else s = 2;
        switch (s) { case 1: s = 2; default: s = 3; }
        assert s > 0;
        f(a, b, c);
        return s;
    } void g() { return; }");
    let Decl::Function(f) = &nta.decls[0] else { panic!() };
    assert_eq!(f.params.iter().map(|p| p.by_ref).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(f.body.decls.len(), 3);
    let kinds = f.body.stmts.iter().map(|s| match s {
        Stmt::Empty => "empty".to_string(),
        Stmt::Expr(e) => show(e),
        Stmt::Block(_) => "block".to_string(),
        Stmt::For { init, cond, step, .. } => {
            let part = |e: &Option<_>| e.as_ref().map_or(String::new(), show);
            format!("for {}; {}; {}", part(init), part(cond), part(step))
        }
        Stmt::Iterate { var, ty, .. } => format!("for {} : {}", var.name, show_type(ty)),
        Stmt::While { cond, .. } => format!("while {}", show(cond)),
        Stmt::DoWhile { cond, .. } => format!("do {}", show(cond)),
        Stmt::If { cond, els, .. } => format!("if {} {}", show(cond), els.is_some()),
        Stmt::Return(e, _) => format!("return {}", e.as_ref().map_or(String::new(), show)),
        Stmt::Unsupported { what, .. } => format!("<{what}>"),
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            "empty",
            "for ((i = 0), (s = 1)); (i Lt 3); (i++)",
            "for ; ; ",
            "for k : id_t",
            "while (s Gt 0)",
            "do (s Lt 3)",
            "if a true",
            "if a false", // the `else` belongs to the inner `if`
            "<switch>",
            "<assert>",
            "f(a, b, c)",
            "return s",
        ]
    );
}

#[test]
fn a_process_with_everything() {
    let nta = xta("process P(const id_t id, clock &x, chan &c[2]) {
        int n; urgent chan u; void f() { n = 1; }
        state A, B { x <= 5 && n < 3 }, C { x <= 2; 1:3 }, D { ; 4 };
        branchpoint Q;
        commit A;
        urgent B, C;
        init A;
        trans A -> B { select i : id_t, j : int[0,2]; guard n == i; sync c[i]!; assign n = j, f(); },
              -> C { },
              B -> A { sync u?; },
              B -u-> D { },
              A -> Q { probability 3; };
    }
    system P;");
    let p = &nta.templates[0];
    assert_eq!(
        p.params.iter().map(|q| (q.name.name.as_str(), q.by_ref)).collect::<Vec<_>>(),
        [("id", false), ("x", true), ("c", true)]
    );
    assert_eq!(p.decls.len(), 3);
    let rates = p.locations.iter().filter(|l| l.rate.is_some()).map(|l| l.name.name.as_str());
    assert_eq!(rates.collect::<Vec<_>>(), ["C", "D"]);
    let locations = p.locations.iter().map(|l| {
        (l.name.name.as_str(), l.invariant.as_ref().map_or(String::new(), show), l.committed, l.urgent, l.branches)
    });
    assert_eq!(
        locations.collect::<Vec<_>>(),
        [
            ("A", String::new(), true, false, false),
            ("B", "((x Le 5) And (n Lt 3))".to_string(), false, true, false),
            ("C", "(x Le 2)".to_string(), false, true, false),
            ("D", String::new(), false, false, false),
            ("Q", String::new(), false, false, true),
        ]
    );
    assert_eq!(p.init, Some(0));
    let edges = p.edges.iter().map(|e| {
        let sync =
            e.sync.as_ref().map_or(String::new(), |s| format!("{}{}", show(&s.chan), if s.send { "!" } else { "?" }));
        (e.source, e.target, e.select.len(), e.guard.as_ref().map_or(String::new(), show), sync, e.update.len())
    });
    assert_eq!(
        edges.collect::<Vec<_>>(),
        [
            (0, 1, 2, "(n Eq i)".to_string(), "c[i]!".to_string(), 2),
            (0, 2, 0, String::new(), String::new(), 0),
            (1, 0, 0, String::new(), "u?".to_string(), 0),
            (1, 3, 0, String::new(), String::new(), 0),
            (0, 4, 0, String::new(), String::new(), 0),
        ]
    );
    assert!(p.edges.iter().all(|e| e.unsupported.is_none()), "an edge of the environment is one like others");
    assert_eq!(p.edges.iter().map(|e| e.weight.is_some()).collect::<Vec<_>>(), [false, false, false, false, true]);
}

#[test]
fn a_channel_alone_is_not_supported() {
    let nta = xta("process P() { state A; init A; trans A -> A { sync c; }; } system P;");
    assert!(nta.templates[0].edges[0].unsupported.as_ref().is_some_and(|(what, _)| what.contains("synchronisation")));
}

#[test]
fn instances_priorities_and_the_system_line() {
    let nta = xta("chan a, b[2], c; chan priority a, b[0] < default < c, b[1];
        Q1 = T(1, x); Q2 := T(2, y); Q(const int[0,3] i, int &r) = T(i, r);
        system Q1, Q2 < Q < R;");
    let instances = nta.instances.iter().map(|i| {
        (
            i.name.name.as_str(),
            i.params.len(),
            i.template.name.as_str(),
            i.args.iter().map(show).collect::<Vec<_>>().join(","),
        )
    });
    assert_eq!(
        instances.collect::<Vec<_>>(),
        [("Q1", 0, "T", "1,x".to_string()), ("Q2", 0, "T", "2,y".to_string()), ("Q", 2, "T", "i,r".to_string()),]
    );
    let groups: Vec<Vec<_>> = nta.system.iter().map(|g| g.iter().map(|n| n.name.as_str()).collect()).collect();
    assert_eq!(groups, [vec!["Q1", "Q2"], vec!["Q"], vec!["R"]]);
    let chans: Vec<Vec<_>> = nta
        .chan_priority
        .iter()
        .map(|g| {
            g.iter()
                .map(|c| match c {
                    ChanRef::Default(_) => "default".to_string(),
                    ChanRef::Chan(e) => show(e),
                })
                .collect()
        })
        .collect();
    assert_eq!(chans, [vec!["a", "b[0]"], vec!["default"], vec!["c", "b[1]"]]);
}

#[test]
fn what_is_not_supported_is_named() {
    let nta = xta("import \"lib.so\" { int f(int x); }; import \"m\" int g(int);
        dynamic P(int x); before_update { x = 1 } after_update { x = 2; { y } }
        system P; progress { x; y : z; } gantt { G(i : id_t): a -> 1; } IO P { a, b }");
    let named = nta.decls.iter().map(|d| match d {
        Decl::Unsupported { what, .. } => what.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        named.collect::<Vec<_>>(),
        ["import", "import", "dynamic", "before_update", "after_update", "progress", "gantt", "IO"]
    );
}

#[test]
fn queries_may_stand_in_the_model() {
    let nta = xta("system P; query { A[] P.a }\nquery { /* why */ E<> x-- > 1 }");
    assert_eq!(nta.queries.iter().map(|q| q.text.as_str()).collect::<Vec<_>>(), ["A[] P.a", "E<> x-- > 1"]);
    assert_eq!(nta.queries[1].comment, "why");
    let nta = xta("system P; query { P.a --> P.b }");
    assert_eq!(nta.queries[0].text, "P.a --> P.b");
}
