;;; hive-list-sections-test.el --- Sections, marks, the region and the preview  -*- lexical-binding: t; -*-

(require 'hive-list)
(require 'hive-list-test-help)
(require 'hive-test-help)

(defmacro hive-list-sections-test (questions &rest body)
  "Show QUESTIONS, lists of an id, a project and an agent, by project, and run BODY."
  (declare (indent 1))
  `(let ((hive-list-group 'project))
     (hive-list-test
       (pcase-dolist (`(,id ,project ,agent . ,fields) ,questions)
         (hive-model-put-prompt
          (apply #'hive-test-prompt :ask_id id :created_at id :question (concat "Question " id)
                 :project project :project_dir (concat "/home/ada/" project "/.git")
                 :agent agent :session_id agent fields)))
       (hive-list)
       ,@body)))

(defun hive-list-sections-outline ()
  "Return the lines: headings in full, and the ids of questions."
  (save-excursion
    (goto-char (point-min))
    (let (lines)
      (while (not (eobp))
        (push (if (hive-list--section-at)
                  (buffer-substring-no-properties (point) (line-end-position))
                (concat (buffer-substring-no-properties (point) (1+ (point)))
                        (tabulated-list-get-id)))
              lines)
        (forward-line 1))
      (nreverse lines))))

(defun hive-list-sections-go (id)
  "Go to the line of ID, a question, or the name of a section."
  (goto-char (or (hive-list--position id)
                 (hive-list--position (list 'section (concat "/home/ada/" id "/.git"))))))

(defvar hive-list-sections-three
  '(("a" "shop" "Claude-1") ("b" "rocket" "Codex-1" :kind "permission") ("c" "shop" "Claude-2"))
  "Three questions of two projects.")

;;;; Sections

(ert-deftest hive-list-has-a-section-for-each-project-in-the-order-of-their-first-questions ()
  (hive-list-sections-test hive-list-sections-three
    (should (equal '(" ▾ shop  2 questions" " a" " c" " ▾ rocket  1 question (1 permission)" " b")
                   (hive-list-sections-outline)))
    ;; The list opens at its first question.
    (should (equal "a" (tabulated-list-get-id)))
    ;; A fact in the heading needs no column.
    (should-not (cl-find "Project" tabulated-list-format :key #'car :test #'equal))))

(ert-deftest hive-list-has-sections-by-agent-and-none ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-test-key "G")
    (should (equal '(" ▾ Claude-1  1 question" " a" " ▾ Codex-1  1 question (1 permission)" " b"
                     " ▾ Claude-2  1 question" " c")
                   (hive-list-sections-outline)))
    (should-not (cl-find "Agent" tabulated-list-format :key #'car :test #'equal))
    (hive-list-test-key "G")
    (should (equal '(" a" " b" " c") (hive-list-sections-outline)))
    (hive-list-test-key "G")
    (should (equal " ▾ shop  2 questions" (car (hive-list-sections-outline))))))

(ert-deftest hive-list-projects-of-one-name-are-two-sections ()
  (hive-list-sections-test '(("a" "shop" "Claude-1"))
    (hive-model-put-prompt (hive-test-prompt :ask_id "b" :created_at "b" :project "shop" :project_dir "/one/shop/.git"))
    (hive-list--update)
    (should (equal '(" ▾ shop  1 question" " a" " ▾ shop  1 question" " b")
                   (hive-list-sections-outline)))))

(ert-deftest hive-list-that-is-sorted-by-a-column-has-no-sections ()
  (hive-list-sections-test hive-list-sections-three
    (setq tabulated-list-sort-key '("Agent"))
    (tabulated-list-print t)            ; as S and a click on the column do
    (should (equal '(" a" " c" " b") (hive-list-sections-outline)))
    (should (cl-find "Project" tabulated-list-format :key #'car :test #'equal))
    (hive-list-test-key "G")
    (should (equal " ▾ shop  2 questions" (car (hive-list-sections-outline))))))

(ert-deftest hive-list-folds-one-section-and-all ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-sections-go "c")
    (hive-list-test-key "TAB")
    (should (equal '(" ▸ shop  2 questions" " ▾ rocket  1 question (1 permission)" " b")
                   (hive-list-sections-outline)))
    (should (hive-list--section-at))
    ;; It stays folded when a question arrives in it, and counts it.
    (hive-model-put-prompt (hive-test-prompt :ask_id "d" :created_at "d" :project "shop" :project_dir "/home/ada/shop/.git"))
    (hive-list--update)
    (should (equal " ▸ shop  3 questions" (car (hive-list-sections-outline))))
    (hive-list-test-key "TAB")
    (should (equal '(" ▾ shop  3 questions" " a" " c" " d")
                   (seq-take (hive-list-sections-outline) 4)))
    (hive-list-test-key "<backtab>")
    (should (equal '(" ▸ shop  3 questions" " ▸ rocket  1 question (1 permission)")
                   (hive-list-sections-outline)))
    (hive-list-test-key "<backtab>")
    (should (= 6 (length (hive-list-sections-outline))))))

(ert-deftest hive-list-moves-between-sections ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-test-key "M-n")
    (should (looking-at " ▾ rocket"))
    (should-error (hive-list-test-key "M-n") :type 'user-error)
    (hive-list-test-key "M-p")
    (should (looking-at " ▾ shop"))
    (should-error (hive-list-test-key "M-p") :type 'user-error)))

(ert-deftest hive-list-with-sections-updated-by-line-equals-a-new-print ()
  (let ((hive-list-group 'project))
    (hive-list-test
      (let ((state (cl-make-random-state 7)) (ids nil) (next 0))
        (hive-list)
        (dotimes (_ 300)
          (pcase (cl-random 5 state)
            ((or 0 1)
             (push (format "ask-%03d" (cl-incf next)) ids)
             (hive-model-put-prompt
              (hive-test-prompt :ask_id (car ids) :created_at (format "%03d" (cl-random 1000 state))
                                :project (nth (cl-random 4 state) '("a" "b" "c" "d")))))
            (2 (when ids
                 (let ((id (nth (cl-random (length ids) state) ids)))
                   (setq ids (delete id ids))
                   (hive-model-put-prompt (hive-test-prompt :ask_id id :status "responded")))))
            (3 (when ids
                 (hive-model-put-prompt
                  (append (list :project (nth (cl-random 4 state) '("a" "b" "c" "d")))
                          (hive-model-prompt (nth (cl-random (length ids) state) ids))))))
            (4 (let ((key (nth (cl-random 4 state) '("a" "b" "c" "d"))))
                 (setq hive-list--folded (if (member key hive-list--folded) (remove key hive-list--folded)
                                           (cons key hive-list--folded))))))
          (when (= 0 (cl-random 3 state)) (hive-list--update t)))
        (hive-list--update t)
        (let ((updated (buffer-string)))
          (hive-list--print)
          (should (equal updated (buffer-string)))
          (should (> (length (hive-list-sections-outline)) 4)))))))

;;;; Marks, the region and sections

(ert-deftest hive-list-marks-by-regexp-and-toggles ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-mark-regexp "Claude-[0-9]")
    (should (equal '(">▾ shop  2 questions" ">a" ">c" " ▾ rocket  1 question (1 permission)" " b")
                   (hive-list-sections-outline)))
    (should (string-match-p " 2 marked" mode-line-process))
    (hive-list-test-key "t")
    (should (equal '(" ▾ shop  2 questions" " a" " c" ">▾ rocket  1 question (1 permission)" ">b")
                   (hive-list-sections-outline)))
    (hive-list-test-key "U")
    (should-not (cl-find ?> (buffer-string)))
    (should-error (hive-list-mark-regexp "nothing like it") :type 'user-error)))

(ert-deftest hive-list-marks-a-section-at-its-heading-also-when-it-is-folded ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-test-key "TAB")
    (hive-list-test-key "m")
    (should (equal ">▸ shop  2 questions" (car (hive-list-sections-outline))))
    (should (equal '("a" "c") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-list-selected))))))

(ert-deftest hive-list-commands-are-about-the-region-then-the-marks-then-point ()
  (hive-list-sections-test hive-list-sections-three
    (cl-flet ((selected () (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-list-selected))))
      (hive-list-sections-go "c")
      (should (equal '("c") (selected)))
      (hive-list-sections-go "shop")
      (should (equal '("a" "c") (selected)))
      (hive-list-sections-go "b")
      (hive-list-test-key "m")
      (hive-list-sections-go "a")
      (should (equal '("b") (selected)))
      (transient-mark-mode 1)
      (push-mark (hive-list--position "c") t t)
      (forward-line 1)
      (forward-char 3)
      (set-mark (hive-list--position "a"))
      (should (use-region-p))
      (should (equal '("a" "c") (selected)))
      (goto-char (point-max))
      (deactivate-mark)
      (hive-list-test-key "U")
      (should-error (hive-list-selected) :type 'user-error))))

(ert-deftest hive-list-a-mark-of-a-question-that-was-settled-does-not-count ()
  (hive-list-sections-test hive-list-sections-three
    (hive-list-mark-regexp "Question")
    (hive-model-put-prompt (hive-test-prompt :ask_id "a" :status "responded"))
    (hive-list--update)
    (should (string-match-p " 2 marked" mode-line-process))
    (should (= 2 (length (hive-list-selected))))))

(defmacro hive-list-sections-desk (&rest body)
  "Run BODY in a list of three questions of two agents, all of them marked."
  (declare (indent 0))
  `(hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :session_id "s1" :agent "reviewer")
                          (:ask_id "p2" :created_at "2026-01-02" :session_id "s2" :agent "builder")
                          (:ask_id "p3" :created_at "2026-01-03" :session_id "s1" :agent "reviewer"))
     (hive-list-toggle-marks)
     ,@body))

(ert-deftest hive-list-cancels-what-is-marked-after-one-question ()
  (hive-list-sections-desk
    (let (asked (yes nil))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) yes)))
        (hive-list-test-key "c")
        (should (equal '("Cancel 3 questions? ") asked))
        (should (= 3 (length (hive-list--marked))))
        (setq yes t)
        (hive-list-test-key "c"))
      (hive-test-wait 5 (null (hive-list-test-lines))))))

(ert-deftest hive-list-snoozes-what-is-marked-and-un-snoozes-it ()
  (hive-list-sections-desk
    (hive-list-test-key "u")
    (hive-list-test-key "s")
    (hive-test-wait 5 (= 2 (cl-count-if #'hive-prompt-snoozed-p (hive-prompts))))
    (should-error (hive-list-snooze '-) :type 'user-error)
    (should (= 2 (cl-count-if #'hive-prompt-snoozed-p (hive-prompts))))
    (should-not (hive-list--marked))
    ;; One of these is awake: all are to be snoozed.
    (hive-list-toggle-marks)
    (hive-list-test-key "s")
    (hive-test-wait 5 (= 3 (cl-count-if #'hive-prompt-snoozed-p (hive-prompts))))
    (hive-list-toggle-marks)
    (hive-list-test-key "s")
    (hive-test-wait 5 (= 0 (cl-count-if #'hive-prompt-snoozed-p (hive-prompts))))))

(ert-deftest hive-list-interrupts-and-visits-each-agent-of-what-is-marked-once ()
  (hive-list-sections-desk
    (let (asked interrupted visited)
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) t))
                ((symbol-function 'hive-interrupt-session)
                 (lambda (session &rest _) (push session interrupted)))
                ((symbol-function 'hive-terminal-visit)
                 (lambda (session &rest _) (push session visited))))
        (hive-list-test-key "j")
        (should (equal '("s2" "s1") visited))
        (hive-list-test-key "i")
        (should (equal '("Interrupt 2 agents? ") asked))
        (should (equal '("s2" "s1") interrupted))
        (should-not (hive-list--marked))))))

(ert-deftest hive-list-does-not-confirm-the-interrupt-of-an-idle-agent ()
  (hive-list-sections-desk
    (let (asked interrupted)
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) t))
                ((symbol-function 'hive-interrupt-session)
                 (lambda (session &rest _) (push session interrupted))))
        (hive-model--remember-session '(:session_id "s1" :handle "Claude-1" :state "idle"))
        (hive-model--remember-session '(:session_id "s2" :handle "Codex-1" :state "active"))
        (should (equal "These 2 agents are idle; nothing to interrupt"
                       (cadr (should-error (hive-list-test-key "i") :type 'user-error))))
        (should-not asked)
        (hive-interrupt--remember '(:turn_id "t2" :session_id "s2" :state "in_progress"))
        (unwind-protect
            (progn (hive-list-test-key "i")
                   (should (= 1 (length asked)))
                   (should (equal '("s2") interrupted)))
          (hive-interrupt--remember '(:turn_id "t2" :session_id "s2" :state "completed"))
          (clrhash hive-model--sessions))))))

;;;; Filters, and why the list is empty

(defun hive-list-sections-says ()
  "Return what the list says in place of questions."
  (substring-no-properties
   (mapconcat (lambda (overlay) (or (overlay-get overlay 'after-string) ""))
              (overlays-in (point-min) (point-max)) "")))

(ert-deftest hive-list-says-why-it-is-empty ()
  (hive-list-sections-desk
    (hive-list-filter-project "rocket")
    (should (equal " The filter hides 3 pending questions; / / removes it." (hive-list-sections-says)))
    (should (string-match-p "only project rocket" (format "%s" header-line-format)))
    (hive-list-test-key "2")
    (hive-test-wait 5 (string-match-p "No questions match the filter" (hive-list-sections-says)))
    (let ((hive-list--view 'agents))
      (should (equal "No agents match the filter; / / removes it." (hive-list--nothing))))
    (hive-list-test-key "/ /")
    (hive-test-wait 5 (equal " No answered questions." (hive-list-sections-says)))
    (should-not (string-match-p "only" (format "%s" header-line-format)))
    (hive-list-test-key "1")
    (should (equal "" (hive-list-sections-says)))
    (hive-mode -1)
    (hive-test-wait 5 (string-match-p "Hive is off" (hive-list-sections-says)))))

(ert-deftest hive-list-filters-do-not-outlive-q ()
  (hive-list-sections-desk
    (hive-list-filter-agent "builder")
    (should (= 1 (length (hive-list-test-lines))))
    (hive-list-test-key "2")
    (hive-list-test-key "q")
    (hive-list)
    (should (= 3 (length (hive-list-test-lines))))
    (should-not hive-list--filter)
    (should (eq 'waiting hive-list--view))))

;;;; Preview

(defmacro hive-list-sections-follow (&rest body)
  "Run BODY in a list of three questions that is followed, and clean up."
  (declare (indent 0))
  `(hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01") (:ask_id "p2" :created_at "2026-01-02")
                          (:ask_id "p3" :created_at "2026-01-03"))
     (delete-other-windows)
     (unwind-protect (progn (hive-list-follow 1) ,@body)
       (dolist (buffer (buffer-list))
         (when (eq 'hive-prompt-mode (buffer-local-value 'major-mode buffer)) (kill-buffer buffer))))))

(defun hive-list-sections-settle ()
  "Do what follows a command of the human, as batch Emacs has no command loop."
  (run-hooks 'post-command-hook)
  (when hive-list--preview-timer
    (let ((timer hive-list--preview-timer))
      (cancel-timer timer)
      (apply (timer--function timer) (timer--args timer)))))

(defun hive-list-sections-previewed ()
  "Return the ids of the questions that are in windows."
  (cl-loop for window in (window-list)
           for prompt = (buffer-local-value 'hive-prompt--prompt (window-buffer window))
           when prompt collect (plist-get prompt :ask_id)))

(ert-deftest hive-list-follow-shows-the-question-at-point-without-selecting-it ()
  ;; M-x offers it in a list only.
  (should (equal '(hive-list-mode) (command-modes #'hive-list-follow)))
  (hive-list-sections-follow
    (let ((list (selected-window)))
      (hive-list-sections-settle)
      (should (equal '("p1") (hive-list-sections-previewed)))
      (forward-line 1)
      (hive-list-sections-settle)
      (should (equal '("p2") (hive-list-sections-previewed)))
      (should (eq list (selected-window)))
      ;; Only one buffer is open for it.
      (should (= 1 (cl-count 'hive-prompt-mode (buffer-list)
                             :key (lambda (buffer) (buffer-local-value 'major-mode buffer)))))
      (hive-list-follow -1)
      (should (equal (list list) (window-list)))
      (should-not (hive-list-sections-previewed)))))

(ert-deftest hive-list-follow-shows-nothing-when-only-the-list-changes ()
  (hive-list-sections-follow
    (hive-list-sections-settle)
    (hive-test-call 'fake/change '(:ask_id "p1" :status "cancelled"))
    (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))
    (should (equal "p2" (tabulated-list-get-id)))
    (should-not hive-list--preview-timer)
    (should (equal '("p1") (hive-list-sections-previewed)))))

(ert-deftest hive-list-follow-shows-nothing-while-the-human-is-elsewhere ()
  (hive-list-sections-follow
    (hive-list-sections-settle)
    (forward-line 1)
    (run-hooks 'post-command-hook)
    (select-window (next-window))
    (hive-list-sections-settle)
    (should (equal '("p1") (hive-list-sections-previewed)))))

(ert-deftest hive-list-follow-leaves-open-what-the-human-opened ()
  (hive-list-sections-follow
    (hive-list-sections-settle)
    (save-selected-window (hive-list-show))
    (hive-list-follow -1)
    (should (equal '("p1") (hive-list-sections-previewed)))))

(ert-deftest hive-list-marks-questions-that-ask-the-same ()
  (hive-list-test
    (dolist (fields '((:ask_id "a" :alike "x" :created_at "1") (:ask_id "b" :alike "y" :created_at "2")
                      (:ask_id "c" :alike "x" :created_at "3")))
      (hive-model-put-prompt (apply #'hive-test-prompt fields)))
    (hive-list)
    (hive-list-test-key "=")
    (should (equal '("a" "c") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-list-selected))))))
